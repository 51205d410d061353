//! The arrows between the rooms, read off the sources: `js -> gpu, checkpoint -> optim -> precision -> error`, never the other way.
#![cfg(not(target_arch = "wasm32"))]

use std::fs;
use std::path::{Path, PathBuf};

/// What a room must not name, and the files that may.
struct Wall {
    room: &'static str,
    words: &'static [&'static str],
    except: &'static [&'static str],
}

const PANICS: &[&str] = &[".unwrap()", ".expect(", "panic!", "unreachable!", "todo!", "unimplemented!"];
const JAVASCRIPT: &[&str] = &["wasm_bindgen", "js_sys", "crate::js"];

const WALLS: &[Wall] = &[
    Wall { room: "src/error.rs", words: &["wgpu", "wasm_bindgen", "js_sys", "crate::"], except: &[] },
    Wall { room: "src/precision", words: &["wgpu", "crate::gpu", "crate::optim"], except: &[] },
    Wall { room: "src/optim", words: &["wgpu", "crate::gpu"], except: &[] },
    Wall { room: "src/optim", words: &["crate::checkpoint"], except: &[] },
    Wall { room: "src/gpu", words: &["crate::checkpoint"], except: &[] },
    Wall { room: "src/checkpoint", words: &["wgpu", "crate::gpu"], except: &[] },
    Wall { room: "src/checkpoint", words: JAVASCRIPT, except: &[] },
    Wall { room: "src/checkpoint", words: PANICS, except: &[] },
    Wall { room: "src/precision", words: JAVASCRIPT, except: &[] },
    Wall { room: "src/optim", words: JAVASCRIPT, except: &[] },
    Wall { room: "src/gpu", words: JAVASCRIPT, except: &["src/gpu/adopt.rs"] },
    Wall { room: "src/js", words: &["wgpu::"], except: &[] },
    Wall { room: "src/js", words: PANICS, except: &[] },
    Wall { room: "src/gpu", words: PANICS, except: &[] },
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(at: &Path) -> Vec<PathBuf> {
    if at.is_file() {
        return vec![at.to_owned()];
    }
    let mut paths: Vec<_> = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().flat_map(|path| files(path)).collect()
}

fn named(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/")
}

/// The code of a Rust file: comments are free to name anything, and tests to panic.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let text = text.split("#[cfg(all(test").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn offences(text: &str, words: &[&str]) -> Vec<String> {
    words.iter().filter(|word| code(text).contains(**word)).map(|word| (*word).to_owned()).collect()
}

#[test]
fn no_room_names_what_lies_behind_its_wall() {
    for wall in WALLS {
        let inside: Vec<_> = files(&root().join(wall.room));
        let inside = inside.iter().filter(|path| path.extension().is_some_and(|it| it == "rs"));
        let mut seen = 0;
        for path in inside.filter(|path| !wall.except.contains(&named(path).as_str())) {
            let found = offences(&fs::read_to_string(path).unwrap(), wall.words);
            assert!(found.is_empty(), "{} names {found:?}", named(path));
            seen += 1;
        }
        assert!(seen > 0, "{} is empty", wall.room);
    }
}

#[test]
fn the_check_can_fail() {
    assert_eq!(offences("use crate::gpu::Gpu;", &["crate::gpu"]), ["crate::gpu"]);
    assert_eq!(offences("value.unwrap()", PANICS), [".unwrap()"]);
    assert!(offences("// wgpu does this\n#[cfg(test)]\nmod tests { fn f() { g().unwrap() } }", PANICS).is_empty());
}

#[test]
fn a_file_is_short_enough_to_read() {
    for room in ["src", "shaders/shared", "shaders/step", "www", ".scripts"] {
        for path in files(&root().join(room)) {
            let source = path.extension().is_some_and(|it| ["rs", "ts", "wgsl", "mjs"].contains(&it.to_str().unwrap()));
            if source && !named(&path).contains("/dist/") {
                let lines = fs::read_to_string(&path).unwrap().lines().count();
                assert!(lines <= 360, "{} has {lines} lines", named(&path));
            }
        }
    }
}
