//! The layers inside the two cores: the table in ARCHITECTURE.md says which room (a folder or file of the first level) may use
//! which, and the sources are compared with it.
//!
//! An arrow is a path that begins with `crate`, or a call of a use case, which is a method of the core's value. Tests are not
//! checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

use super::Findings;
use crate::Failure;

/// A core: its folder in `crates`, and the value whose methods are its use cases.
struct Core {
    folder: &'static str,
    value: &'static str,
    /// The names of variables and fields that hold the value.
    variable: &'static str,
}

const CORES: [Core; 2] = [
    Core { folder: "platform/core", value: "Platform", variable: "platform" },
    Core { folder: "provider/core", value: "Provider", variable: "provider" },
];
const PLAN: &str = "ARCHITECTURE.md";
/// Arrows up in one core.
const ARROWS_UP_MAX: usize = 5;
/// Files of the first level that are in no layer: the root, and entry points that no release contains.
const NO_ROOMS: [&str; 2] = ["lib", "fuzzing"];

type Arrow = (String, String);

/// Compares the arrows in both cores with the table.
pub(super) fn check(root: &Path, found: &mut Findings) -> Result<(), Failure> {
    let plan = read(&root.join(PLAN))?;
    for (column, core) in CORES.iter().enumerate() {
        let layers = Layers::read(&plan, column, core.folder);
        let sources = sources_of(&root.join("crates").join(core.folder).join("src"))?;
        found.errors(layers.compare(core.folder, &arrows_in(core, &sources)?));
    }
    Ok(())
}

/// The part of the table that is about one core.
#[derive(Debug, Default)]
struct Layers {
    /// All rooms, the highest first.
    rooms: Vec<String>,
    /// Arrows up that the plan explains.
    explained: BTreeSet<Arrow>,
}

impl Layers {
    /// Reads the rows between the table's head and the next empty line, and the rows of explained arrows. Within a row, a room is
    /// above those to its left.
    fn read(plan: &str, column: usize, folder: &str) -> Self {
        let rows = |head: &str| {
            let rows = plan.lines().skip_while(move |line| !line.starts_with(head)).skip(2);
            rows.take_while(|line| line.starts_with('|')).map(cells).collect::<Vec<_>>()
        };
        let mut rooms = Vec::new();
        for row in rows("| layer |") {
            rooms.extend(row.get(column + 1).map(|cell| names(cell)).unwrap_or_default().into_iter().rev());
        }
        let arrows = rows("| arrow up |").into_iter().filter_map(|row| match names(row.first()?).as_slice() {
            [core, from, to] if core == folder => Some((from.clone(), to.clone())),
            _ => None,
        });
        Self { rooms, explained: arrows.collect() }
    }

    fn compare(&self, folder: &str, arrows: &BTreeMap<Arrow, String>) -> Vec<String> {
        let height: BTreeMap<&str, usize> =
            self.rooms.iter().rev().enumerate().map(|(height, room)| (room.as_str(), height)).collect();
        let rooms: BTreeSet<&str> = arrows.keys().flat_map(|(from, to)| [from.as_str(), to.as_str()]).collect();
        let mut errors = Vec::new();
        for room in rooms.iter().filter(|room| !height.contains_key(*room)) {
            errors.push(format!("{PLAN} has no layer for {folder}/src/{room}"));
        }
        for room in self.rooms.iter().filter(|room| !rooms.contains(room.as_str())) {
            errors.push(format!("{PLAN} has a layer for {room}, which {folder} does not have"));
        }
        for ((from, to), place) in arrows {
            let is_up = height.get(from.as_str()) < height.get(to.as_str());
            if is_up && !self.explained.contains(&(from.clone(), to.clone())) {
                errors.push(format!("{place} uses {to}, which is above {from} in the layers of {PLAN}"));
            }
        }
        for (from, to) in &self.explained {
            if !arrows.contains_key(&(from.clone(), to.clone())) {
                errors.push(format!(
                    "{PLAN} explains the arrow {from} to {to} of {folder}, which does not exist any more"
                ));
            }
        }
        if self.explained.len() > ARROWS_UP_MAX {
            errors.push(format!("{folder} has {} arrows up, more than {ARROWS_UP_MAX}", self.explained.len()));
        }
        errors
    }
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

/// The words in backticks.
fn names(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// A source file with its room.
struct Source {
    room: String,
    path: String,
    file: syn::File,
}

fn sources_of(folder: &Path) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    for path in super::files_below(folder)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs")) {
        let inside: PathBuf = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
        let room = inside.iter().next().unwrap_or_default().to_string_lossy().into_owned();
        let file = syn::parse_file(&read(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
        // A file of tests is declared with `#[cfg(test)] mod tests;`.
        if inside.iter().next_back().is_some_and(|last| last != "tests") {
            sources.push(Source { room, path: path.display().to_string(), file });
        }
    }
    Ok(sources)
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The arrows between rooms, each with one file that has it.
fn arrows_in(core: &Core, sources: &[Source]) -> Result<BTreeMap<Arrow, String>, Failure> {
    let Some(library) = sources.iter().find(|source| source.room == "lib") else {
        return Err(format!("{} has no lib.rs", core.folder));
    };
    let mut names = names_of_rooms(&library.file);
    let mut methods = BTreeMap::new();
    for source in sources {
        names.entry(source.room.clone()).or_insert_with(|| source.room.clone());
        for method in methods_of(core.value, &source.file) {
            methods.insert(method, source.room.clone());
        }
    }
    let mut arrows = BTreeMap::new();
    for source in sources.iter().filter(|source| !NO_ROOMS.contains(&source.room.as_str())) {
        let mut uses = Uses { core, names: &names, methods: &methods, of_value: false, rooms: BTreeSet::new() };
        uses.visit_file(&source.file);
        for room in uses.rooms.into_iter().filter(|room| *room != source.room && !NO_ROOMS.contains(&room.as_str())) {
            arrows.entry((source.room.clone(), room)).or_insert_with(|| source.path.clone());
        }
    }
    Ok(arrows)
}

/// The rooms of names that the crate's root exports: `pub use room::Name`.
fn names_of_rooms(library: &syn::File) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for item in &library.items {
        if let syn::Item::Use(syn::ItemUse { tree: syn::UseTree::Path(path), .. }) = item {
            collect_exports(&path.ident.to_string(), &path.tree, &mut names);
        }
    }
    names
}

fn collect_exports(room: &str, tree: &syn::UseTree, names: &mut BTreeMap<String, String>) {
    match tree {
        syn::UseTree::Path(path) => collect_exports(room, &path.tree, names),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| collect_exports(room, tree, names)),
        syn::UseTree::Name(name) => drop(names.insert(name.ident.to_string(), room.to_owned())),
        syn::UseTree::Rename(name) => drop(names.insert(name.rename.to_string(), room.to_owned())),
        syn::UseTree::Glob(_) => {}
    }
}

/// The methods that a file gives to the core's value.
fn methods_of(value: &str, file: &syn::File) -> Vec<String> {
    let blocks = file.items.iter().filter_map(|item| match item {
        syn::Item::Impl(block) if is_value(value, block) => Some(block),
        _ => None,
    });
    let methods = blocks.flat_map(|block| &block.items).filter_map(|item| match item {
        syn::ImplItem::Fn(method) => Some(method.sig.ident.to_string()),
        _ => None,
    });
    methods.collect()
}

fn is_value(value: &str, block: &syn::ItemImpl) -> bool {
    let syn::Type::Path(path) = block.self_ty.as_ref() else { return false };
    block.trait_.is_none() && path.path.is_ident(value)
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    })
}

/// Finds the rooms that a file uses.
struct Uses<'a> {
    core: &'a Core,
    /// Rooms of names below `crate`.
    names: &'a BTreeMap<String, String>,
    /// Rooms of the value's methods.
    methods: &'a BTreeMap<String, String>,
    /// True within an `impl` block of the value.
    of_value: bool,
    rooms: BTreeSet<String>,
}

impl Uses<'_> {
    fn name(&mut self, name: &syn::Ident) {
        self.rooms.extend(self.names.get(&name.to_string()).cloned());
    }

    fn tree(&mut self, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => self.name(&path.ident),
            syn::UseTree::Name(name) => self.name(&name.ident),
            syn::UseTree::Rename(name) => self.name(&name.ident),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree)),
            syn::UseTree::Glob(_) => {}
        }
    }

    fn is_value_name(&self, name: &syn::Ident) -> bool {
        name == self.core.variable || (self.of_value && name == "self")
    }

    fn call(&mut self, method: &syn::Ident) {
        self.rooms.extend(self.methods.get(&method.to_string()).cloned());
    }

    /// Paths and calls in the input of a macro, which is not parsed.
    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        let mut path = String::new();
        let mut receiver = None;
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    path.clear();
                }
                proc_macro2::TokenTree::Ident(ident) => {
                    if path == "crate::" {
                        self.name(&ident);
                    }
                    if path == "." && receiver.as_ref().is_some_and(|receiver| self.is_value_name(receiver)) {
                        self.call(&ident);
                    }
                    path = ident.to_string();
                    receiver = Some(ident);
                }
                proc_macro2::TokenTree::Punct(punct) => {
                    if path != "crate" && path != "crate:" {
                        path.clear();
                    }
                    path.push(punct.as_char());
                }
                proc_macro2::TokenTree::Literal(_) => path.clear(),
            }
        }
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        let outside = std::mem::replace(&mut self.of_value, is_value(self.core.value, block));
        visit::visit_item_impl(self, block);
        self.of_value = outside;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if let syn::UseTree::Path(path) = &item.tree
            && path.ident == "crate"
        {
            self.tree(&path.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut segments = path.segments.iter();
        if segments.next().is_some_and(|first| first.ident == "crate")
            && let Some(second) = segments.next()
        {
            self.name(&second.ident);
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let is_value = match call.receiver.as_ref() {
            syn::Expr::Path(path) => path.path.get_ident().is_some_and(|name| self.is_value_name(name)),
            syn::Expr::Field(field) => {
                matches!(&field.member, syn::Member::Named(name) if name == self.core.variable)
            }
            _ => false,
        };
        if is_value {
            self.call(&call.method);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
| layer | `platform/core` | `provider/core` |
|---|---|---|
| composition | `workers` | |
| capabilities | `customers` `sales` | |
| ground | `port` | |

| arrow up | why |
|---|---|
| `platform/core`: `port` → `sales` | A reason. |
";

    fn source(room: &str, text: &str) -> Source {
        Source { room: room.into(), path: format!("{room}.rs"), file: syn::parse_str(text).unwrap() }
    }

    fn findings(sources: &[Source]) -> Vec<String> {
        let arrows = arrows_in(&CORES[0], sources).unwrap();
        Layers::read(TABLE, 0, "platform/core").compare("platform/core", &arrows)
    }

    fn rooms() -> Vec<Source> {
        vec![
            source("lib", "pub use port::Store;"),
            source("port", "use crate::sales::Sale;"),
            source("customers", "use crate::Store;"),
            source("sales", "impl Platform { fn sell(&self) { self.customer() } }"),
            source("workers", "fn run() { crate::sales::end() }"),
        ]
    }

    #[test]
    fn arrows_down_and_explained_arrows_are_no_findings() {
        assert_eq!(findings(&rooms()), Vec::<String>::new());
    }

    #[test]
    fn an_arrow_up_is_found_in_paths_calls_macros_and_the_root_s_exports() {
        for text in [
            "use crate::{sales::Sale};",
            "fn run(platform: &Platform) { platform.sell() }",
            "struct Desk { platform: Platform } impl Desk { fn run(&self) { self.platform.sell() } }",
            "impl Platform { fn run(&self) { tokio::select! { () = self.sell() => {} } } }",
            "fn run() { assert!(crate::sales::is_open()) }",
        ] {
            let mut sources = rooms();
            sources.push(source("customers", text));
            let expected = "customers.rs uses sales, which is above customers in the layers of ARCHITECTURE.md";
            assert_eq!(findings(&sources), [expected], "{text}");
        }
    }

    #[test]
    fn tests_and_other_values_are_not_checked() {
        let mut sources = rooms();
        sources.push(source("customers", "#[cfg(test)] mod tests { use crate::sales::Sale; }"));
        sources.push(source("customers", "impl Register { fn run(&self) { self.sell() } }"));
        assert_eq!(findings(&sources), Vec::<String>::new());
    }

    #[test]
    fn a_room_without_a_layer_a_layer_without_a_room_and_an_old_exception_are_findings() {
        let mut sources = rooms();
        sources.retain(|source| source.room != "workers" && source.room != "port");
        sources.push(source("cellar", "use crate::sales::Sale;"));
        let found = findings(&sources);
        assert!(found.contains(&"ARCHITECTURE.md has no layer for platform/core/src/cellar".to_owned()), "{found:?}");
        assert!(found.iter().any(|error| error.contains("a layer for workers")), "{found:?}");
        assert!(found.iter().any(|error| error.contains("the arrow port to sales")), "{found:?}");
    }
}
