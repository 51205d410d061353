//! How a kernel reaches parameters and gradients, and the WGSL for it.

use crate::optim::rule::{Binding, Pass};
use crate::precision::Half;

/// How values in a buffer are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Four at a time.
    #[default]
    Whole,
    /// One by one: where the place is no multiple of four values, or others' values stand behind the end.
    Single,
}

use Reach::{Single, Whole};

/// How a kernel reaches parameters and gradients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Form {
    /// The parameters.
    pub params: Reach,
    /// The gradients.
    pub grads: Reach,
    /// The format of gradients in 16 bits.
    pub grad_half: Option<Half>,
    /// The parameters in 16 bits that are kept beside those in 32.
    pub copies: Option<(Half, Reach)>,
    /// Whether the gradients stand in the buffer of the caller's parameters: it is bound once then.
    pub beside: bool,
    /// Whether the device's own type is used for binary16, instead of words that hold two.
    pub native: bool,
}

impl Form {
    /// Every form there is.
    pub fn all() -> impl Iterator<Item = Self> {
        let halves = [None, Some(Half::F16), Some(Half::Bf16)];
        let grads = halves.into_iter().flat_map(|half| [Whole, Single].map(|reach| (half, reach)));
        let copies =
            [Half::F16, Half::Bf16].into_iter().flat_map(|half| [Whole, Single].map(|reach| Some((half, reach))));
        let params = [(Whole, None), (Single, None)].into_iter().chain(copies.map(|copies| (Whole, copies)));
        let params: Vec<_> = params.collect();
        let flags = [(false, false), (true, false), (false, true)];
        let all = grads.flat_map(move |(grad_half, grads)| {
            params.clone().into_iter().flat_map(move |(params, copies)| {
                flags.map(|(beside, native)| Self { params, grads, grad_half, copies, beside, native })
            })
        });
        all.filter(|form| *form == form.possible())
    }

    /// The nearest form that there is: one buffer is reached in one way, and a device has a type for binary16 only.
    pub fn possible(mut self) -> Self {
        let whole = self.copies.is_none() && self.grad_half.is_none() && self.params == Whole && self.grads == Whole;
        if self.beside && !whole {
            self.grads = Single;
            match &mut self.copies {
                Some((_, reach)) => *reach = Single,
                None => self.params = Single,
            }
        }
        let copies = self.copies.map(|(half, _)| half);
        let known = self.grad_half != Some(Half::Bf16) && copies != Some(Half::Bf16);
        self.native &= !self.beside && known && self.grad_half.or(copies).is_some();
        self
    }

    /// The part of the form that matters to a pass.
    pub fn of(self, pass: &Pass) -> Self {
        let uses = |binding| pass.uses.contains(&binding);
        let (params, grads, copies) = (uses(Binding::Params), uses(Binding::Grads), uses(Binding::Copies));
        let beside = grads && if self.copies.is_some() { copies } else { params };
        let form = Self {
            params: if params { self.params } else { Whole },
            grads: if grads { self.grads } else { Whole },
            grad_half: self.grad_half.filter(|_| grads),
            copies: self.copies.filter(|_| copies),
            beside: self.beside && beside,
            // A pass without parameters looks at bits, which a type of the device's own does not show.
            native: self.native && params,
        };
        form.possible()
    }

    /// Whether a kernel of this form binds what its pass uses.
    pub fn binds(self, binding: Binding) -> bool {
        match binding {
            Binding::Grads => !self.beside,
            Binding::Copies => self.copies.is_some(),
            _ => true,
        }
    }

    /// A shader with the functions that reach parameters and gradients.
    pub fn complete(self, source: &str) -> String {
        let enable = if self.native { "enable f16;\n" } else { "" };
        let params = match self.params {
            Whole => include_str!("../../shaders/memory/params_whole.wgsl"),
            Single => include_str!("../../shaders/memory/params_single.wgsl"),
        };
        let set = include_str!("../../shaders/memory/set_param.wgsl");
        [enable, source, params, &self.copying(), set, &self.taking()].concat()
    }

    fn copying(self) -> String {
        let (half, copies) = match (self.copies, self.native) {
            (None, _) => return include_str!("../../shaders/memory/copies_none.wgsl").to_owned(),
            (Some((_, Whole)), true) => return include_str!("../../shaders/memory/copies_whole_f16.wgsl").to_owned(),
            (Some((_, Single)), true) => return include_str!("../../shaders/memory/copies_single_f16.wgsl").to_owned(),
            (Some((half, Whole)), _) => (half, include_str!("../../shaders/memory/copies_whole.wgsl")),
            (Some((half, Single)), _) => (half, include_str!("../../shaders/memory/copies_single.wgsl")),
        };
        let narrow = match half {
            Half::F16 => include_str!("../../shaders/memory/narrow_f16.wgsl"),
            Half::Bf16 => include_str!("../../shaders/memory/narrow_bf16.wgsl"),
        };
        [copies, narrow].concat()
    }

    fn taking(self) -> String {
        let widen = match self.grad_half {
            None => "",
            Some(Half::F16) if self.native => {
                return match self.grads {
                    Whole => include_str!("../../shaders/memory/halves_whole_f16.wgsl"),
                    Single => include_str!("../../shaders/memory/halves_single_f16.wgsl"),
                }
                .to_owned();
            }
            Some(Half::F16) => include_str!("../../shaders/memory/widen_f16.wgsl"),
            Some(Half::Bf16) => include_str!("../../shaders/memory/widen_bf16.wgsl"),
        };
        let words = match (self.grads, self.beside, self.copies) {
            (Whole, ..) => "",
            (Single, false, _) => include_str!("../../shaders/memory/words_grads.wgsl"),
            (Single, true, None) => include_str!("../../shaders/memory/words_params.wgsl"),
            (Single, true, Some(_)) => include_str!("../../shaders/memory/words_copies.wgsl"),
        };
        let bits = match (self.grads, self.grad_half, self.beside) {
            (Whole, None, false) => include_str!("../../shaders/memory/grads_whole.wgsl"),
            (Whole, None, true) => include_str!("../../shaders/memory/beside_whole.wgsl"),
            (Whole, Some(_), _) => include_str!("../../shaders/memory/halves_whole.wgsl"),
            (Single, None, _) => include_str!("../../shaders/memory/grads_single.wgsl"),
            (Single, Some(_), _) => include_str!("../../shaders/memory/halves_single.wgsl"),
        };
        [widen, words, bits, include_str!("../../shaders/memory/grads.wgsl")].concat()
    }
}
