//! The language of claims: quantities, and relations between them.
//!
//! ```text
//! relation = sum [ ( ">" | "<" | ">=" | "<=" | "~" ) sum ]      ~ says "differs insignificantly from"
//! sum      = product { ( "+" | "-" ) product }
//! product  = factor { ( "*" | "/" ) factor }
//! factor   = ( number | list | quantity ) [ "in" name ] [ "at" number [ ".." number ] ]
//! list     = ( "(" | "[" | "max(" | "min(" ) sum { "," sum } ( ")" | "]" )
//! quantity = "fact(" name ")" | name "(" [ name { "," name } ] ")"
//! name     = word | "'" any characters "'"
//! ```
//!
//! `rate(SAIL, D18R) in 'just in time' at 4` has a value for each engine. Operators work element by element, and a
//! single value goes with every element. A quantity without `in` or `at` of its own has the next one in the text.

use super::terms::{Quantity, Relation, Sign, ValueRef};

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Name(String),
    Number(f64),
    Mark(&'static str),
}

/// Punctuation; a mark precedes the marks that it begins with.
const MARKS: [&str; 15] =
    ["..", ">=", "<=", ">", "<", "~", "+", "-", "*", "/", "(", ")", "[", "]", ","];

impl TryFrom<String> for Relation {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Parser::parse(&text, |parser| {
            let left = parser.sum()?;
            let sign = match parser.any(&[">", "<", ">=", "<=", "~"]) {
                Some(">") => Sign::Greater,
                Some("<") => Sign::Less,
                Some(">=") => Sign::AtLeast,
                Some("<=") => Sign::AtMost,
                Some(_) => Sign::Same,
                None => return Err("a sign: > < >= <= ~".into()),
            };
            Ok(Self { left, sign, right: parser.sum()? })
        })
    }
}

impl TryFrom<String> for Quantity {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Parser::parse(&text, Parser::sum)
    }
}

/// A computed quantity is an error.
impl TryFrom<String> for ValueRef {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match Parser::parse(&text, Parser::sum)? {
            Quantity::Of(wanted) => Ok(wanted),
            _ => Err(format!("{text}: the values of engines are expected, without operators")),
        }
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    next: usize,
}

impl Parser {
    fn parse<T>(
        text: &str,
        rule: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut parser = Self { tokens: tokens(text)?, next: 0 };
        let parsed = rule(&mut parser).and_then(|it| match parser.peek() {
            None => Ok(it),
            Some(_) => Err("the end".into()),
        });
        let place = parser.tokens.get(parser.next).map_or(text.len(), |it| it.0);
        parsed.map_err(|wanted| format!("{text}: {wanted} is expected at character {}", place + 1))
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|it| &it.1)
    }

    fn any(&mut self, marks: &[&str]) -> Option<&'static str> {
        let Some(Token::Mark(mark)) = self.peek() else { return None };
        let mark = *mark;
        marks.contains(&mark).then(|| {
            self.next += 1;
            mark
        })
    }

    fn mark(&mut self, mark: &str) -> Result<(), String> {
        self.any(&[mark]).map(drop).ok_or_else(|| mark.into())
    }

    fn sum(&mut self) -> Result<Quantity, String> {
        self.operators(&["+", "-"], |it| it.operators(&["*", "/"], Self::factor))
    }

    fn operators(
        &mut self,
        marks: &[&str],
        operand: impl Fn(&mut Self) -> Result<Quantity, String>,
    ) -> Result<Quantity, String> {
        let mut left = operand(self)?;
        while let Some(mark) = self.any(marks) {
            left = Quantity::Op(mark.into(), Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Quantity, String> {
        let start = self.next;
        let factor = match self.peek().cloned() {
            Some(Token::Number(number)) => {
                self.next += 1;
                Quantity::Number(number)
            }
            Some(Token::Mark("(")) => self.list("(", ")")?,
            Some(Token::Mark("[")) => self.list("[", "]")?,
            Some(Token::Name(name)) => {
                self.next += 1;
                match name.as_str() {
                    "max" => Quantity::Max(Box::new(self.list("(", ")")?)),
                    "min" => Quantity::Min(Box::new(self.list("(", ")")?)),
                    "fact" => Quantity::Fact(self.arguments()?.concat()),
                    _ => Quantity::Of(ValueRef {
                        metric: name,
                        engines: self.arguments()?,
                        run: self.run(start),
                        xs: self.xs(start),
                    }),
                }
            }
            _ => return Err("a quantity".into()),
        };
        // The quantities before a keyword have read its argument already.
        if self.keyword("in") {
            self.argument("a name", |it| matches!(it, Token::Name(_)))?;
        }
        if self.keyword("at") {
            self.argument("a number", |it| matches!(it, Token::Number(_)))?;
            if self.any(&[".."]).is_some() {
                self.argument("a number", |it| matches!(it, Token::Number(_)))?;
            }
        }
        Ok(factor)
    }

    fn keyword(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(&Token::Name(word.into()));
        self.next += usize::from(found);
        found
    }

    fn argument(&mut self, wanted: &str, is: fn(&Token) -> bool) -> Result<(), String> {
        self.peek().filter(|it| is(it)).ok_or(wanted)?;
        self.next += 1;
        Ok(())
    }

    fn list(&mut self, start: &str, end: &str) -> Result<Quantity, String> {
        self.mark(start)?;
        let mut all = vec![self.sum()?];
        while self.any(&[","]).is_some() {
            all.push(self.sum()?);
        }
        self.mark(end)?;
        Ok(if all.len() == 1 { all.remove(0) } else { Quantity::List(all) })
    }

    fn arguments(&mut self) -> Result<Vec<String>, String> {
        self.mark("(")?;
        let mut names = Vec::new();
        while let Some(Token::Name(name)) = self.peek().cloned() {
            self.next += 1;
            names.push(name);
            if self.any(&[","]).is_none() {
                break;
            }
        }
        self.mark(")")?;
        if names.is_empty() {
            names.push(String::new());
        }
        Ok(names)
    }

    /// Returns the tokens after the first `word` that follows the token `start`.
    fn after(&self, start: usize, word: &str) -> &[(usize, Token)] {
        let rest = &self.tokens[start..];
        let found = rest.iter().position(|(_, token)| *token == Token::Name(word.into()));
        found.map_or(&[], |i| &rest[i + 1..])
    }

    fn run(&self, start: usize) -> String {
        match self.after(start, "in") {
            [(_, Token::Name(run)), ..] => run.clone(),
            _ => String::new(),
        }
    }

    fn xs(&self, start: usize) -> Vec<f64> {
        match self.after(start, "at") {
            [(_, Token::Number(from)), (_, Token::Mark("..")), (_, Token::Number(to)), ..] => {
                (*from as i64..=*to as i64).map(|x| x as f64).collect()
            }
            [(_, Token::Number(x)), ..] => vec![*x],
            _ => Vec::new(),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, String> {
    let mut tokens = Vec::new();
    let mut place = 0;
    while let Some(rest) = text.get(place..).filter(|rest| !rest.is_empty()) {
        let length =
            |accepted: fn(char) -> bool| rest.find(|it| !accepted(it)).unwrap_or(rest.len());
        let first = rest.chars().next().unwrap_or(' ');
        let (token, len) = if first.is_whitespace() {
            place += first.len_utf8();
            continue;
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            let end = quoted.find('\'').ok_or_else(|| format!("{text}: a ' is not closed"))?;
            (Token::Name(quoted[..end].into()), end + 2)
        } else if first.is_ascii_digit() {
            let len = length(|it| it.is_ascii_digit() || it == '.');
            let len = rest[..len].find("..").unwrap_or(len);
            let number = rest[..len]
                .parse()
                .map_err(|_| format!("{text}: {} is not a number", &rest[..len]))?;
            (Token::Number(number), len)
        } else if first.is_alphabetic() {
            let len = length(|it| it.is_alphanumeric() || it == '_');
            (Token::Name(rest[..len].into()), len)
        } else {
            let mark = MARKS.into_iter().find(|mark| rest.starts_with(mark));
            let mark = mark.ok_or_else(|| format!("{text}: {first} has no meaning"))?;
            (Token::Mark(mark), mark.len())
        };
        tokens.push((place, token));
        place += len;
    }
    Ok(tokens)
}
