//! Forms of a drawing: wide and narrow.

/// A form of a drawing, by the width of the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// For print, tablets and desktops.
    Wide,
    /// For phones.
    Narrow,
}

impl Form {
    /// Returns the width in SVG units.
    pub const fn width(self) -> f64 {
        match self {
            Self::Wide => 720.0,
            Self::Narrow => 360.0,
        }
    }

    /// Returns the font size; equals the one in the style sheet.
    pub const fn letters(self) -> f64 {
        match self {
            Self::Wide => 12.0,
            Self::Narrow => 11.0,
        }
    }

    /// Returns the class in the style sheet.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }
}
