//! Every shader is valid, agrees with its Rust side, and has its Metal text beside it.
#![cfg(all(feature = "gpu", not(target_arch = "wasm32")))]

use naga::valid::{Capabilities, GlobalUse, ModuleInfo, ValidationFlags, Validator};
use naga::{Module, TypeInner};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use webgpu_optim::REGISTRY;
use webgpu_optim::gpu::Form;
use webgpu_optim::optim::Entry;
use webgpu_optim::optim::rule::{Binding, MAX_SLOTS, Pass, Used};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn parse(entry: &Entry) -> (Module, ModuleInfo) {
    parse_text(entry.kind, &Form::default().complete(entry.shader))
}

fn parse_text(stem: &str, text: &str) -> (Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|error| panic!("{stem}.wgsl: {}", error.emit_to_string(text)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::SHADER_FLOAT16)
        .validate(&module)
        .unwrap_or_else(|error| panic!("{stem}.wgsl: {}", error.emit_to_string(text)));
    (module, info)
}

/// Members of a struct by name and offset, and its size.
fn layout(module: &Module, name: &str) -> (Vec<(String, usize)>, usize) {
    let mut found = module.types.iter().filter(|(_, it)| it.name.as_deref() == Some(name));
    let (_, it) = found.next().unwrap_or_else(|| panic!("no struct {name}"));
    let TypeInner::Struct { members, span } = &it.inner else { panic!("{name} is no struct") };
    (members.iter().map(|it| (it.name.clone().unwrap(), it.offset as usize)).collect(), *span as usize)
}

/// Every set of slots that could exist, and the passes for each.
fn passes(entry: &Entry) -> Vec<(Used, &'static Pass)> {
    let sets = (0..1 << MAX_SLOTS).map(|bits: usize| -> Used { std::array::from_fn(|slot| bits >> slot & 1 == 1) });
    sets.flat_map(|used| (entry.passes)(used).iter().map(move |pass| (used, pass))).collect()
}

#[test]
fn every_row_matches_its_shader() {
    for entry in REGISTRY {
        let (module, _) = parse(entry);
        let (members, size) = layout(&module, "Hyper");
        let mine: Vec<_> = entry.hyper_fields.iter().map(|(name, offset)| ((*name).to_owned(), *offset)).collect();
        assert_eq!(members, mine, "{}", entry.kind);
        assert_eq!(size, entry.hyper_size, "{}", entry.kind);
    }
}

#[test]
fn the_tables_match_their_shaders() {
    use std::mem::offset_of;
    use webgpu_optim::gpu::{Span, TILE, Tile};
    let lamb = REGISTRY.iter().find(|entry| entry.kind == "lamb").unwrap();
    let (module, _) = parse(lamb);
    let owned =
        |fields: &[(&str, usize)]| fields.iter().map(|(name, at)| ((*name).to_owned(), *at)).collect::<Vec<_>>();
    let tile = [
        ("segment", offset_of!(Tile, segment)),
        ("first", offset_of!(Tile, first)),
        ("length", offset_of!(Tile, length)),
        ("number", offset_of!(Tile, number)),
        ("param", offset_of!(Tile, param)),
        ("grad", offset_of!(Tile, grad)),
        ("copy", offset_of!(Tile, copy)),
    ];
    assert_eq!(layout(&module, "Tile"), (owned(&tile), size_of::<Tile>()));
    let span = [("first", offset_of!(Span, first)), ("length", offset_of!(Span, length))];
    assert_eq!(layout(&module, "Span"), (owned(&span), size_of::<Span>()));
    assert!(module.entry_points.iter().all(|it| it.workgroup_size[0] as usize * 4 == TILE));
}

/// In every form of reaching parameters and gradients.
fn uses_are_exact(stem: &str, source: &str, passes: &[&'static Pass]) {
    let mut reached = BTreeSet::new();
    let forms = |pass: &&'static Pass| Form::all().map(|form| form.of(pass)).collect::<std::collections::HashSet<_>>();
    for (pass, form) in passes.iter().flat_map(|pass| forms(pass).into_iter().map(move |form| (pass, form))) {
        let (module, info) = parse_text(stem, &form.complete(source));
        let place = module.entry_points.iter().position(|it| it.name == pass.entry);
        let place = place.unwrap_or_else(|| panic!("{stem}.wgsl has no {}", pass.entry));
        reached.insert(pass.entry);
        let uses = info.get_entry_point(place);
        let declared: BTreeMap<u32, bool> =
            pass.uses.iter().filter(|it| form.binds(**it)).map(|it| (it.number(), it.read_only())).collect();
        let mut used = BTreeSet::new();
        for (handle, global) in module.global_variables.iter() {
            let Some(binding) = &global.binding else { continue };
            if uses[handle].is_empty() {
                continue;
            }
            used.insert(binding.binding);
            let writes = uses[handle].contains(GlobalUse::WRITE);
            let read_only = declared.get(&binding.binding) == Some(&true);
            assert!(!(writes && read_only), "{stem}.{} writes what is read-only", pass.entry);
        }
        assert_eq!(declared.keys().copied().collect::<BTreeSet<_>>(), used, "{stem}.{}", pass.entry);
        assert!(used.len() <= 8, "{stem}.{}: WebGPU grants 8 storage buffers", pass.entry);
    }
    let (module, _) = parse_text(stem, &Form::default().complete(source));
    assert_eq!(reached.len(), module.entry_points.len(), "{stem}.wgsl has an entry point no pass uses");
}

#[test]
fn every_pass_declares_exactly_what_its_entry_point_uses() {
    for entry in REGISTRY {
        let passes: Vec<_> = passes(entry).into_iter().map(|(_, pass)| pass).collect();
        uses_are_exact(entry.kind, entry.shader, &passes);
    }
}

#[test]
fn the_passes_of_no_rule_match_their_shaders() {
    for shader in webgpu_optim::gpu::described() {
        let parsed = parse_text(shader.stem, &Form::default().complete(shader.source));
        uses_are_exact(shader.stem, shader.source, &shader.passes.iter().collect::<Vec<_>>());
        for (name, fields) in shader.rows {
            let fields: Vec<_> = fields.iter().map(|(field, at)| ((*field).to_owned(), *at)).collect();
            assert_eq!(layout(&parsed.0, name).0, fields, "{name}");
        }
    }
}

#[test]
fn a_pass_binds_only_slots_that_exist() {
    for entry in REGISTRY {
        let always = (entry.default)().used();
        for (used, pass) in passes(entry).into_iter().filter(|(used, _)| (0..MAX_SLOTS).all(|i| !always[i] || used[i]))
        {
            for binding in pass.uses {
                if let Binding::Slot(slot) = binding {
                    assert!(used[*slot], "{}.{} binds slot {slot} of {used:?}", entry.kind, pass.entry);
                }
            }
        }
    }
}

fn stems(folder: &Path, extension: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|it| it == extension));
    files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn every_shader_is_a_rule_and_every_rule_has_its_files() {
    let mut kinds: Vec<_> = REGISTRY.iter().map(|entry| entry.kind.to_owned()).collect();
    kinds.sort();
    let mut shaders = stems(&root().join("shaders"), "wgsl");
    shaders.sort();
    assert_eq!(shaders, kinds);
    let rust = stems(&root().join("src/optim"), "rs");
    assert!(kinds.iter().all(|kind| rust.contains(kind)));
    let golden = stems(&root().join("tests/golden"), "json");
    assert!(kinds.iter().all(|kind| golden.contains(kind)), "a rule without a golden file: {golden:?}");
}

#[test]
fn a_kernel_is_short_enough_to_read() {
    for kind in stems(&root().join("shaders"), "wgsl") {
        let text = std::fs::read_to_string(root().join(format!("shaders/{kind}.wgsl"))).unwrap();
        assert!(text.lines().count() <= 100, "{kind}.wgsl");
    }
}

/// Every shader that a device compiles, by stem.
fn sources() -> Vec<(&'static str, String)> {
    let mut all: Vec<_> = REGISTRY.iter().map(|entry| (entry.kind, entry.shader)).collect();
    all.extend(webgpu_optim::gpu::described().iter().map(|shader| (shader.stem, shader.source)));
    all.into_iter().map(|(stem, source)| (stem, Form::default().complete(source))).collect()
}

fn metal(stem: &str, source: &str) -> String {
    let (module, info) = parse_text(stem, source);
    let options = naga::back::msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..Default::default() };
    let pipeline = naga::back::msl::PipelineOptions::default();
    naga::back::msl::write_string(&module, &info, &options, &pipeline).unwrap().0
}

#[test]
fn the_metal_texts_are_derived_from_the_wgsl() {
    for (stem, source) in sources() {
        let path = root().join(format!("shaders/msl/{stem}.metal"));
        let derived = metal(stem, &source);
        if std::env::var_os("WEBGPU_OPTIM_WRITE_MSL").is_some() {
            std::fs::write(&path, &derived).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == derived,
            "shaders/msl/{stem}.metal is stale: run `WEBGPU_OPTIM_WRITE_MSL=1 cargo test --test shaders`"
        );
    }
    assert_eq!(stems(&root().join("shaders/msl"), "metal").len(), sources().len());
}

#[test]
#[cfg(target_os = "macos")]
fn every_metal_text_compiles_to_a_library() {
    use objc2_foundation::NSString;
    use objc2_metal::{MTLCreateSystemDefaultDevice, MTLDevice};
    let device = MTLCreateSystemDefaultDevice().expect("a Metal device");
    for (stem, source) in sources() {
        let text = NSString::from_str(&metal(stem, &source));
        let library = device.newLibraryWithSource_options_error(&text, None);
        assert!(library.is_ok(), "{stem}.metal: {:?}", library.err());
    }
}
