//! The words and characters of a configuration, without its comments, in bounded memory.

use crate::decompress::{Codec, explain};
use crate::error::FeedError;
use crate::input::Input;
use crate::text::error::LineError;
use crate::text::lines::BOM;

/// Characters of a word that are kept: no class has so many.
const MAX_WORD: usize = 64;

/// A unit of the text outside of arguments.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// An identifier or a number.
    Word(String),
    /// `::`
    Colons,
    /// `(`
    Open,
    /// `)`
    Close,
    /// Any other character of a statement, such as those of `->`.
    Mark,
    /// A character that no statement has.
    Stray(char),
    /// The end of the input.
    End,
}

/// The text of a configuration, byte by byte.
pub(super) struct Scanner<'a> {
    input: Input<'a>,
    codec: Option<Codec>,
    /// Bytes of the window that have been read.
    at: usize,
    newlines: u64,
    /// Whether the last byte was not a line end.
    inside_line: bool,
}

impl<'a> Scanner<'a> {
    /// Begins after a byte-order mark, if there is one.
    pub(super) fn new(mut input: Input<'a>, codec: Option<Codec>) -> Self {
        input.fill(BOM.len());
        let at = if input.window().starts_with(BOM) { BOM.len() } else { 0 };
        Self { input, codec, at, newlines: 0, inside_line: false }
    }

    /// The number of the line of the last byte, or of the next one after a line end; from 1.
    pub(super) fn line(&self) -> u64 {
        self.newlines + 1
    }

    /// The number of lines so far.
    pub(super) fn lines(&self) -> u64 {
        self.newlines + u64::from(self.inside_line)
    }

    /// The number of bytes received from the stream.
    pub(super) fn received(&self) -> u64 {
        self.input.received()
    }

    /// Returns the byte so far ahead without reading it. Returns `None` at the end of the input, and
    /// where the stream has failed.
    #[inline]
    fn peek(&mut self, ahead: usize) -> Option<u8> {
        if self.input.window().len() <= self.at + ahead {
            self.input.consume(self.at);
            self.at = 0;
            self.input.fill(ahead + 1);
        }
        self.input.window().get(self.at + ahead).copied()
    }

    /// Reads the byte that [`Scanner::peek`] has returned.
    #[inline]
    fn read(&mut self, byte: u8) {
        self.at += 1;
        self.inside_line = byte != b'\n';
        self.newlines += u64::from(byte == b'\n');
    }

    /// Returns the error of the stream, if it has failed.
    fn end(&mut self) -> Result<(), FeedError> {
        let received = self.received();
        let failure = self.input.take_error();
        failure.map_or(Ok(()), |error| Err(FeedError::stream(received, explain(error, self.codec))))
    }

    /// Reads the next byte, with a space in place of a comment. Returns `None` at the end.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<u8>, FeedError> {
        let Some(byte) = self.peek(0) else { return self.end().map(|()| None) };
        match (byte, if byte == b'/' { self.peek(1) } else { None }) {
            (_, Some(b'/')) => self.skip_line(),
            (_, Some(b'*')) => self.skip_comment()?,
            _ => {
                self.read(byte);
                return Ok(Some(byte));
            }
        }
        Ok(Some(b' '))
    }

    /// Drops the rest of the line, without its end.
    pub(super) fn skip_line(&mut self) {
        while let Some(byte) = self.peek(0).filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            self.read(byte);
        }
    }

    /// Drops a comment that ends in `*/`.
    fn skip_comment(&mut self) -> Result<(), FeedError> {
        let line = self.line();
        // The first star may not be the last one.
        let mut last = b'/';
        self.at += 2;
        while let Some(byte) = self.peek(0) {
            self.read(byte);
            if (last, byte) == (b'*', b'/') {
                return Ok(());
            }
            last = byte;
        }
        self.end()?;
        Err(FeedError::line(line, LineError::ClickComment))
    }

    /// Drops the rest of a quotation that began with this mark; in double quotes, a backslash
    /// precedes a mark that does not end it.
    pub(super) fn skip_quotation(&mut self, mark: u8) {
        while let Some(byte) = self.peek(0) {
            self.read(byte);
            match self.peek(0) {
                _ if byte == mark => return,
                Some(next) if byte == b'\\' && mark == b'"' => self.read(next),
                _ => {}
            }
        }
    }

    /// Reads the next token.
    pub(super) fn token(&mut self) -> Result<Token, FeedError> {
        loop {
            let begins_line = !self.inside_line;
            let Some(byte) = self.next()? else { return Ok(Token::End) };
            return Ok(match byte {
                byte if byte.is_ascii_whitespace() => continue,
                // A directive of the preprocessor, such as `# 1 "file"`.
                b'#' if begins_line => {
                    self.skip_line();
                    continue;
                }
                b'(' => Token::Open,
                b')' => Token::Close,
                b':' if self.peek(0) == Some(b':') => {
                    self.read(b':');
                    Token::Colons
                }
                b'.' if self.peek(0) == Some(b'.') && self.peek(1) == Some(b'.') => {
                    self.at += 2;
                    Token::Mark
                }
                b'-' | b'=' | b'>' | b'[' | b']' | b'{' | b'}' | b',' | b';' | b'|' | b'$' => {
                    Token::Mark
                }
                byte if is_word(byte) => self.word(byte),
                other => Token::Stray(char::from(other)),
            });
        }
    }

    /// Reads the rest of a word.
    fn word(&mut self, first: u8) -> Token {
        let mut word = String::from(char::from(first));
        while let Some(byte) = self.peek(0) {
            // A slash between two words is part of them, but not that of a comment.
            let slash = byte == b'/' && self.peek(1).is_some_and(is_word);
            if !slash && !is_word(byte) {
                break;
            }
            self.read(byte);
            if word.len() < MAX_WORD {
                word.push(char::from(byte));
            }
        }
        Token::Word(word)
    }
}

/// Whether a byte is part of an identifier or a number.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanner(text: &str) -> Scanner<'_> {
        Scanner::new(Input::new(Box::new(text.as_bytes())), None)
    }

    fn tokens(text: &str) -> Vec<Token> {
        let mut scanner = scanner(text);
        let next = || scanner.token().unwrap();
        std::iter::repeat_with(next).take_while(|token| *token != Token::End).collect()
    }

    fn word(text: &str) -> Token {
        Token::Word(text.into())
    }

    #[test]
    fn tokens_of_statements() {
        assert_eq!(
            tokens("rt :: X(a)"),
            [word("rt"), Token::Colons, word("X"), Token::Open, word("a"), Token::Close]
        );
        assert_eq!(tokens("a/b//c\n1"), [word("a/b"), word("1")]);
        assert_eq!(tokens("a/*b*/c/**/d/***/e"), [word("a"), word("c"), word("d"), word("e")]);
        assert_eq!(tokens("# 1 \"x\"\n#(\n;"), [Token::Mark]);
        assert_eq!(tokens("->[]{},;|$=..."), [const { Token::Mark }; 12]);
        for stray in ['/', '.', '#', '\0', '!'] {
            assert_eq!(tokens(&format!("a {stray}")), [word("a"), Token::Stray(stray)]);
        }
        assert_eq!(tokens(&"x".repeat(1 << 20)), [word(&"x".repeat(MAX_WORD))]);
        assert_eq!(tokens("\u{feff}a"), [word("a")]);
    }

    #[test]
    fn lines_are_counted() {
        let mut scanner = scanner("a /*\n*/ b // \r\nc\"\\\"\n\"");
        for (token, line) in [("a", 1), ("b", 2), ("c", 3)] {
            assert_eq!((scanner.token().unwrap(), scanner.line()), (word(token), line));
        }
        assert_eq!(scanner.next().unwrap(), Some(b'"'));
        scanner.skip_quotation(b'"');
        assert_eq!((scanner.next().unwrap(), scanner.line(), scanner.lines()), (None, 4, 4));
    }

    #[test]
    fn comments_that_do_not_end() {
        for text in ["/*", "/*/", "x\n/* *"] {
            let mut scanner = scanner(text);
            let error = std::iter::repeat_with(|| scanner.token()).find_map(Result::err).unwrap();
            let line = text.lines().count();
            assert!(error.to_string().starts_with(&format!("line {line}: the comment")), "{error}");
        }
    }
}
