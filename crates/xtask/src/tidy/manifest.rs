//! Reads from a Cargo.toml what the checks need: name, dependencies, target paths.
//!
//! A line reader, not a TOML parser: it understands the shapes cargo's own documentation uses
//! (`name = "1"`, `name = { … }`, `name.workspace = true`, `[dependencies.name]`). A dependency
//! spread over several lines is found by its first line.

/// One dependency of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Name of the package depended on, not its local alias.
    pub name: String,
    /// Line in the manifest, counted from 1.
    pub line: usize,
    /// True if it stands under `[dependencies]`: not for tests, not for build scripts.
    pub is_normal: bool,
}

/// One package of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Folder of its Cargo.toml, from the root of the workspace.
    pub folder: String,
    /// Its name.
    pub name: String,
    /// Everything it depends on, of every kind.
    pub dependencies: Vec<Dependency>,
    /// Files named by `path = "…"` in target sections such as `[[bin]]`.
    pub target_paths: Vec<String>,
}

/// The package that `text`, the Cargo.toml in `folder`, describes; none for a virtual workspace.
pub fn package(folder: &str, text: &str) -> Option<Package> {
    let mut name = None;
    let mut dependencies = Vec::new();
    let mut target_paths = Vec::new();
    let mut section = String::new();
    for (index, line) in text.lines().enumerate() {
        let (line, number) = (line.trim(), index + 1);
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']).to_owned();
            dependencies.extend(section_dependency(&section, number));
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let key = key.trim();
        match section.as_str() {
            "package" if key == "name" => name = quoted(value),
            "bin" | "test" | "bench" | "example" | "lib" if key == "path" => {
                target_paths.extend(quoted(value));
            }
            _ if is_dependencies(&section) => {
                let alias = key
                    .split('.')
                    .next()
                    .expect("split yields at least one part");
                dependencies.push(Dependency {
                    name: renamed(value).unwrap_or_else(|| alias.trim_matches('"').to_owned()),
                    line: number,
                    is_normal: is_normal(&section),
                });
            }
            _ => {}
        }
    }
    Some(Package {
        folder: folder.to_owned(),
        name: name?,
        dependencies,
        target_paths,
    })
}

/// True for `dependencies`, its dev and build kin, and the same under a `target`.
fn is_dependencies(section: &str) -> bool {
    section.ends_with("dependencies") && section != "workspace.dependencies"
}

fn is_normal(section: &str) -> bool {
    let tail = section
        .rsplit('.')
        .next()
        .expect("rsplit yields at least one part");
    tail == "dependencies"
}

/// The dependency that a section such as `[dependencies.name]` opens.
fn section_dependency(section: &str, line: usize) -> Option<Dependency> {
    let (kind, name) = section.rsplit_once('.')?;
    let found = || Dependency {
        name: name.to_owned(),
        line,
        is_normal: is_normal(kind),
    };
    is_dependencies(kind).then(found)
}

/// The package behind an alias: `{ package = "name" }`.
fn renamed(value: &str) -> Option<String> {
    let (_, after) = value.split_once("package")?;
    quoted(after.trim_start().strip_prefix('=')?)
}

/// The first quoted text in `value`.
fn quoted(value: &str) -> Option<String> {
    value.split('"').nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests;
