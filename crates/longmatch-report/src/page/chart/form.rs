//! The widths for which a chart is drawn.

/// For which width a chart is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// A page of a book, a tablet and more.
    Wide,
    /// A phone.
    Narrow,
}

impl Form {
    /// Units from left to right.
    pub const fn width(self) -> f64 {
        match self {
            Self::Wide => 720.0,
            Self::Narrow => 360.0,
        }
    }

    /// The size of the letters: the style sheet has the same.
    pub const fn letters(self) -> f64 {
        match self {
            Self::Wide => 12.0,
            Self::Narrow => 11.0,
        }
    }

    /// The class in the style sheet.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }
}
