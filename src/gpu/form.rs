//! How a kernel reaches parameters and gradients, and the WGSL for it.

use crate::optim::rule::{Binding, Pass};

/// How values in a buffer are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Four at a time.
    #[default]
    Whole,
    /// One by one: where the place is no multiple of four values, or others' values stand behind the end.
    Single,
}

/// How a kernel reaches parameters and gradients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Form {
    /// The parameters.
    pub params: Reach,
    /// The gradients.
    pub grads: Reach,
    /// Whether the gradients stand in the buffer of the parameters: it is bound once then.
    pub beside: bool,
}

impl Form {
    /// Every form there is.
    pub fn all() -> impl Iterator<Item = Self> {
        use Reach::{Single, Whole};
        let each = |params| [Whole, Single].map(|grads| Self { params, grads, beside: false });
        let beside = [Whole, Single].map(|reach| Self { params: reach, grads: reach, beside: true });
        [Whole, Single].into_iter().flat_map(each).chain(beside)
    }

    /// The part of the form that matters to a pass.
    pub fn of(self, pass: &Pass) -> Self {
        let uses = |binding| pass.uses.contains(&binding);
        let only = |binding, reach| if uses(binding) { reach } else { Reach::Whole };
        let beside = self.beside && uses(Binding::Params) && uses(Binding::Grads);
        Self { params: only(Binding::Params, self.params), grads: only(Binding::Grads, self.grads), beside }
    }

    /// Whether a kernel of this form binds what its pass uses.
    pub fn binds(self, binding: Binding) -> bool {
        !(self.beside && binding == Binding::Grads)
    }

    /// A shader with the functions that reach parameters and gradients.
    pub fn complete(self, source: &str) -> String {
        let params = match self.params {
            Reach::Whole => include_str!("../../shaders/memory/params_whole.wgsl"),
            Reach::Single => include_str!("../../shaders/memory/params_single.wgsl"),
        };
        let grads = match (self.beside, self.grads) {
            (false, Reach::Whole) => include_str!("../../shaders/memory/grads_whole.wgsl"),
            (false, Reach::Single) => include_str!("../../shaders/memory/grads_single.wgsl"),
            (true, Reach::Whole) => include_str!("../../shaders/memory/beside_whole.wgsl"),
            (true, Reach::Single) => include_str!("../../shaders/memory/beside_single.wgsl"),
        };
        [source, params, grads, include_str!("../../shaders/memory/grads.wgsl")].concat()
    }
}
