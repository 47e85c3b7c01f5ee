//! Every function is declared in C as it is written in Rust: how many of what it takes and gives.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::installed::installed;

/// What a function gives, and takes one by one.
type Signature = Vec<String>;

/// A type of C: its name and a star for each pointer, whatever is constant.
fn of_c(text: &str) -> String {
    let stars = text.matches('*').count();
    let words = text
        .split([' ', '*'])
        .filter(|word| !word.is_empty() && *word != "const");
    let name = words.take(1).collect::<String>();
    name + &"*".repeat(stars)
}

/// A type of Rust as C has it.
fn of_rust(text: &str) -> String {
    let stars = text.matches('*').count();
    let name = text.rsplit([' ', '*']).next().unwrap();
    let name = name.split('<').next().unwrap();
    let name = match name {
        "c_int" => "int".to_owned(),
        "c_char" => "char".to_owned(),
        "c_void" => "void".to_owned(),
        "u32" | "u64" => format!("{}_t", name.replace('u', "uint")),
        "usize" => "size_t".to_owned(),
        "" => "void".to_owned(),
        ours => {
            let mut snake = String::new();
            for letter in ours.trim_start_matches("Esker").chars() {
                if letter.is_uppercase() {
                    snake.push('_');
                }
                snake.extend(letter.to_lowercase());
            }
            format!("esker{snake}")
        }
    };
    name + &"*".repeat(stars)
}

fn in_c() -> BTreeMap<String, Signature> {
    let code = installed().declarations().replace('\n', " ");
    let mut found = BTreeMap::new();
    for declaration in code.split(';') {
        let Some((before, taken)) = declaration.split_once('(') else {
            continue;
        };
        let start = before.rfind("esker_").unwrap_or(before.len());
        let (gives, name) = before.split_at(start);
        if name.is_empty() || before.contains("typedef") {
            continue;
        }
        let gives = gives.rsplit(['}', '{']).next().unwrap();
        let gives = gives.rsplit("  ").next().unwrap();
        let taken = taken.trim_end().trim_end_matches(')');
        let takes = taken.split(',').filter(|one| one.trim() != "void");
        let signature = [gives].into_iter().chain(takes).map(of_c).collect();
        found.insert(name.to_owned(), signature);
    }
    found
}

fn in_rust() -> BTreeMap<String, Signature> {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/abi");
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(room).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for function in text.split("extern \"C\" fn esker_").skip(1) {
            let (name, rest) = function.split_once('(').unwrap();
            let (takes, rest) = rest.split_once(')').unwrap();
            let gives = rest.split_once('{').unwrap().0.trim_start_matches(" -> ");
            let takes = takes.split(',').filter_map(|one| one.split_once(": "));
            let takes = takes.map(|(_, taken)| taken);
            let all = [gives].into_iter().chain(takes);
            let signature = all.map(|one| of_rust(one.trim())).collect();
            found.insert(format!("esker_{name}"), signature);
        }
    }
    found
}

#[test]
fn every_function_is_declared_as_it_is_written() {
    // A parameter more, another width of a number, or a pointer to something else would be read
    // from where there is nothing.
    let (in_c, in_rust) = (in_c(), in_rust());
    assert!(in_c.len() >= 140, "{} functions", in_c.len());
    for (name, signature) in &in_rust {
        assert_eq!(in_c.get(name), Some(signature), "{name}");
    }
    assert_eq!(in_c.len(), in_rust.len());
}
