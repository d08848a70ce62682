//! The engines that have images: compiled structures as bytes of a file.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
#[cfg(feature = "folio")]
use core::any::Any;

#[cfg(feature = "folio")]
use super::folio::{self, Byte, Coded, Lines, identity, v4, v6};
use super::kit::image::{ArrayName, DamagedImage, LentArrays};
#[cfg(feature = "folio")]
use super::kit::image::{Image, ImageArray};
#[cfg(feature = "folio")]
use super::kit::{Builder, Engine, EngineVisitor, Request};
use super::kit::{Checked, CompileError};
use super::registry::{EngineKind, EngineSpec};
use crate::net::{Family, Ipv4, Ipv6};
use crate::rib::Rib;

/// The forms of engines that have images, in words.
pub(crate) const WITH_IMAGES: &str =
    "'folio:identity' or 'folio:v4' for ipv4, 'folio:lines' or 'folio:v6' for ipv6";

/// An image of a structure that was compiled for it.
pub(crate) struct OwnedImage {
    /// The form of the structure.
    pub form: &'static str,
    pub arrays: Vec<(ArrayName, Vec<u8>)>,
}

/// Why there is no image.
pub(crate) enum NoImage {
    /// The engine or its form has none.
    Engine(String),
    /// The engine does not hold the routes.
    Compile(CompileError),
}

/// A family whose structures have images.
pub(crate) trait Images: Family {
    /// Compiles routes to an image. [`EngineKind::Auto`] means the form that has one.
    fn image(spec: &EngineSpec, rib: &Rib<Self>) -> Result<OwnedImage, NoImage>;

    /// A structure over an image of a form; `None` if the form is unknown.
    fn over(form: &[u8], arrays: &LentArrays<'_>) -> Option<Over<Self>>;
}

/// A structure over an image, or the damage of the image.
pub(crate) type Over<F> = Result<Arc<dyn Checked<F>>, DamagedImage>;

#[cfg(feature = "folio")]
fn owned<I: Image>(image: &I) -> OwnedImage {
    let own = |ImageArray { name, bytes }: ImageArray<'_>| (name, bytes.into_owned());
    OwnedImage { form: I::FORM, arrays: image.arrays().into_iter().map(own).collect() }
}

/// Visitor that takes the image of an engine with one.
#[cfg(feature = "folio")]
struct TakeImage;

#[cfg(feature = "folio")]
impl<F: Family> EngineVisitor<F> for TakeImage {
    type Output = Result<OwnedImage, NoImage>;

    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output {
        fn of<I: Image + 'static>(any: &dyn Any) -> Option<OwnedImage> {
            any.downcast_ref::<I>().map(owned)
        }
        let any: &dyn Any = &engine;
        let mut found = of::<identity::Pages>(any).or_else(|| of::<v4::Folio4>(any));
        found = found.or_else(|| of::<v6::Folio6>(any));
        for lines in [of::<Lines<Byte>>, of::<Lines<Coded>>, of::<Lines<u16>>, of::<Lines<u32>>] {
            found = found.or_else(|| lines(any));
        }
        found.ok_or_else(|| NoImage::Engine(alloc::format!("{}:{}", E::NAME, engine.variant())))
    }
}

#[cfg(feature = "folio")]
fn image<F: Family>(spec: &EngineSpec, rib: &Rib<F>) -> Result<OwnedImage, NoImage>
where
    folio::Build: Builder<F>,
{
    let options: &[String] = match spec.kind {
        EngineKind::Folio => &spec.options,
        EngineKind::Auto => &[],
        _ => return Err(NoImage::Engine(spec.to_string())),
    };
    let request = Request { engine: EngineKind::Folio.name(), options, memory: spec.memory, rib };
    folio::Build::build(&request, TakeImage).map_err(NoImage::Compile)?
}

#[cfg(not(feature = "folio"))]
fn image<F: Family>(spec: &EngineSpec, _rib: &Rib<F>) -> Result<OwnedImage, NoImage> {
    match spec.kind {
        EngineKind::Folio | EngineKind::Auto => {
            Err(NoImage::Compile(CompileError::NotCompiled { engine: "folio" }))
        }
        _ => Err(NoImage::Engine(spec.to_string())),
    }
}

impl Images for Ipv4 {
    fn image(spec: &EngineSpec, rib: &Rib<Self>) -> Result<OwnedImage, NoImage> {
        image(spec, rib)
    }

    #[cfg(feature = "folio")]
    fn over(form: &[u8], arrays: &LentArrays<'_>) -> Option<Over<Self>> {
        let pages = || -> Over<Self> { Ok(Arc::new(identity::Pages::over(arrays)?)) };
        let folio = || -> Over<Self> { Ok(Arc::new(v4::Folio4::over(arrays)?)) };
        match form == v4::Folio4::FORM.as_bytes() {
            true => Some(folio()),
            false => (form == identity::Pages::FORM.as_bytes()).then(pages),
        }
    }

    #[cfg(not(feature = "folio"))]
    fn over(_form: &[u8], _arrays: &LentArrays<'_>) -> Option<Over<Self>> {
        None
    }
}

impl Images for Ipv6 {
    fn image(spec: &EngineSpec, rib: &Rib<Self>) -> Result<OwnedImage, NoImage> {
        image(spec, rib)
    }

    #[cfg(feature = "folio")]
    fn over(form: &[u8], arrays: &LentArrays<'_>) -> Option<Over<Self>> {
        fn lines<C: folio::Code>(form: &[u8], arrays: &LentArrays<'_>) -> Option<Over<Ipv6>> {
            let lines = || -> Over<Ipv6> { Ok(Arc::new(Lines::<C>::over(arrays)?)) };
            (form == Lines::<C>::FORM.as_bytes()).then(lines)
        }
        if form == v6::Folio6::FORM.as_bytes() {
            return Some(v6::Folio6::over(arrays).map(|table| Arc::new(table) as _));
        }
        let mut forms = [lines::<Byte>, lines::<Coded>, lines::<u16>, lines::<u32>].into_iter();
        forms.find_map(|lines| lines(form, arrays))
    }

    #[cfg(not(feature = "folio"))]
    fn over(_form: &[u8], _arrays: &LentArrays<'_>) -> Option<Over<Self>> {
        None
    }
}
