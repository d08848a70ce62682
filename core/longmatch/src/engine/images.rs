//! The engines that have images: compiled structures as bytes of a file.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
#[cfg(feature = "folio")]
use core::any::Any;

#[cfg(feature = "folio")]
use super::folio::{self, v4::Folio4, v6::Folio6};
use super::kit::image::{ArrayName, DamagedImage, LentArrays};
#[cfg(feature = "folio")]
use super::kit::image::{Image, ImageArray};
#[cfg(feature = "folio")]
use super::kit::{Builder, Engine, EngineVisitor, Request};
use super::kit::{Checked, CompileError};
use super::registry::{EngineKind, EngineSpec};
use crate::net::{Family, Ipv4, Ipv6};
use crate::rib::Rib;

/// The engine that has images.
pub(crate) const WITH_IMAGES: &str = "folio";

/// An image of a structure that was compiled for it.
pub(crate) struct OwnedImage {
    /// The form of the structure.
    pub form: &'static str,
    pub arrays: Vec<(ArrayName, Vec<u8>)>,
}

/// Why there is no image.
pub(crate) enum NoImage {
    /// The engine has none.
    Engine(String),
    /// The engine does not hold the routes.
    Compile(CompileError),
}

/// A family whose structures have images.
pub(crate) trait Images: Family {
    /// Compiles routes to an image. [`EngineKind::Auto`] means the engine that has one.
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
        let found = of::<Folio4>(any).or_else(|| of::<Folio6>(any));
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
    let (engine, memory) = (EngineKind::Folio.name(), spec.memory);
    let request = Request { engine, options, memory, rib, any_cpu: true };
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

/// The structure `I` over an image, if the form is its own.
#[cfg(feature = "folio")]
fn over<F: Family, I: Image + Checked<F> + 'static>(
    form: &[u8],
    arrays: &LentArrays<'_>,
) -> Option<Over<F>> {
    let table = || -> Over<F> { Ok(Arc::new(I::over(arrays)?)) };
    (form == I::FORM.as_bytes()).then(table)
}

impl Images for Ipv4 {
    fn image(spec: &EngineSpec, rib: &Rib<Self>) -> Result<OwnedImage, NoImage> {
        image(spec, rib)
    }

    #[cfg(feature = "folio")]
    fn over(form: &[u8], arrays: &LentArrays<'_>) -> Option<Over<Self>> {
        over::<Self, Folio4>(form, arrays)
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
        over::<Self, Folio6>(form, arrays)
    }

    #[cfg(not(feature = "folio"))]
    fn over(_form: &[u8], _arrays: &LentArrays<'_>) -> Option<Over<Self>> {
        None
    }
}
