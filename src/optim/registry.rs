//! What follows from the one list of rules in `optim/mod.rs`.

use super::AnyRule;
use super::rule::{Fields, Pass, Row, Rule, Used};

/// What the crate knows of a rule without an instance of it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name in lower case, and stem of the files.
    pub kind: &'static str,
    /// Name of the JavaScript class.
    pub class: &'static str,
    /// Every slot the rule may use, by PyTorch's names.
    pub slots: &'static [&'static str],
    /// The WGSL, shared parts first.
    pub shader: &'static str,
    /// Bytes of one tensor's row of scalars.
    pub hyper_size: usize,
    /// Name and offset of each member of that row.
    pub hyper_fields: Fields,
    /// The dispatches of a step, given which slots exist.
    pub passes: fn(Used) -> &'static [Pass],
    /// The rule with its default options.
    pub default: fn() -> AnyRule,
}

impl Entry {
    pub(super) const fn of<R: Rule>(shader: &'static str, default: fn() -> AnyRule) -> Self {
        Self {
            kind: R::KIND,
            class: R::CLASS,
            slots: R::SLOTS,
            shader,
            hyper_size: size_of::<R::Hyper>(),
            hyper_fields: R::Hyper::FIELDS,
            passes: R::passes,
            default,
        }
    }
}

/// Declares the modules of the rules, [`AnyRule`] and [`REGISTRY`] from lines of `stem: Type + "shared part"`.
macro_rules! registry {
    ($($stem:ident: $Type:ident $(+ $shared:literal)*;)+) => {
        $(pub mod $stem; pub use $stem::$Type;)+

        /// Any of the rules, with its options.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum AnyRule { $(#[doc = concat!("[`", stringify!($Type), "`].")] $Type($Type),)+ }

        $(impl From<$Type> for AnyRule { fn from(rule: $Type) -> Self { Self::$Type(rule) } })+

        /// Every rule, in the order of the list.
        pub static REGISTRY: &[Entry] = &[$(Entry::of::<$Type>(
            concat!(
                include_str!("../../shaders/shared/grid.wgsl"),
                include_str!("../../shaders/shared/pace.wgsl"),
                $(include_str!(concat!("../../shaders/shared/", $shared, ".wgsl")),)*
                include_str!(concat!("../../shaders/", stringify!($stem), ".wgsl")),
            ),
            || AnyRule::$Type($Type::default()),
        ),)+];

        impl AnyRule {
            /// Decodes options of the rule called `kind`; fields left out keep their defaults.
            ///
            /// # Errors
            /// What the deserializer says of an unknown or mistyped field, or that no rule has that name.
            pub fn decode<'de, D: serde::Deserializer<'de>>(kind: &str, options: D) -> Result<Self, D::Error> {
                match kind {
                    $($Type::KIND => <$Type as serde::Deserialize>::deserialize(options).map(Self::$Type),)+
                    _ => Err(serde::de::Error::custom(format!(
                        "there is no optimizer called {kind}; there are {}",
                        [$($Type::KIND),+].join(", ")
                    ))),
                }
            }

            /// The rule's line in the registry.
            pub fn entry(&self) -> &'static Entry {
                let kind = match self { $(Self::$Type(_) => $Type::KIND,)+ };
                REGISTRY.iter().find(|entry| entry.kind == kind).unwrap_or(&REGISTRY[0])
            }

            /// Refuses options out of range; see [`Rule::check`].
            pub fn check(&self) -> Result<(), crate::Error> { match self { $(Self::$Type(rule) => rule.check(),)+ } }

            /// The learning rate in the options.
            pub fn lr(&self) -> f64 { match self { $(Self::$Type(rule) => rule.lr(),)+ } }

            /// The learning rate in the options, to be replaced.
            pub fn lr_mut(&mut self) -> &mut f64 { match self { $(Self::$Type(rule) => rule.lr_mut(),)+ } }

            /// Which slots these options need.
            pub fn used(&self) -> rule::Used { match self { $(Self::$Type(rule) => rule.used(),)+ } }

            /// The value that a slot starts with.
            pub fn initial(&self, slot: usize) -> f32 { match self { $(Self::$Type(rule) => rule.initial(slot),)+ } }

            /// Writes the row for one tensor at one step into `row`, which is [`Entry::hyper_size`] long.
            pub fn write_hyper(&self, now: &rule::Now, row: &mut [u8]) {
                match self { $(Self::$Type(rule) => row.copy_from_slice(bytemuck::bytes_of(&rule.hyper(pace::Pace::new(rule, now)))),)+ }
            }

            /// What a device needs to know of a tensor of that group to pace it.
            pub fn plan(&self, group: usize) -> control::Plan {
                match self {
                    $(Self::$Type(rule) => {
                        control::Plan::new(group, rule.used()[0], rule.maximize(), rule.betas(), rule.lr_decay())
                    })+
                }
            }

            /// The CPU reference; see [`Rule::step`].
            pub fn step(&self, now: &rule::Now, params: &mut [f32], grads: &[f32], slots: rule::Slots<'_>) {
                match self { $(Self::$Type(rule) => $Type::step(&rule.hyper(pace::Pace::new(rule, now)), params, grads, slots),)+ }
            }
        }
    };
}
