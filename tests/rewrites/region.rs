//! A marked region of a fixture and what moving it makes of its file: the text around it with a call in
//! the region's place, and the function or closure that holds what stood there.

/// A marked region of a text.
pub struct Region<'t> {
    before: &'t str,
    inside: &'t str,
    after: &'t str,
    syntax: Syntax,
    /// The call without its arguments.
    name: &'t str,
    generics: &'t str,
    arguments: &'t str,
    parameters: &'t str,
    /// What the function gives; empty when nothing is written.
    result: &'t str,
    bound: Bound<'t>,
    /// The forms in which the findings are known to differ.
    different: Vec<&'t str>,
}

/// The language of a region, which may stand in a text of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Rust,
    Lua,
}

/// What the code after a region takes from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound<'t> {
    Nothing,
    /// A pattern.
    Pattern(&'t str),
    /// A pattern for the answer itself, which the code after the region looks at.
    Answer(&'t str),
    /// The region is the end of its function, and gives what that gives.
    Tail,
}

/// A file after its region was moved.
pub struct Moved {
    /// The text of the file.
    pub text: String,
    /// The text of a module `elsewhere` of it.
    pub elsewhere: Option<String>,
}

/// The forms that a region is moved into, by name.
pub const FORMS: [&str; 3] = ["in a function", "in a closure", "in another file"];

impl<'t> Region<'t> {
    /// The first region of a text; `None` when there is none.
    pub fn of(text: &'t str) -> Option<Self> {
        let leaders = [("// ", Syntax::Rust), ("-- ", Syntax::Lua)];
        let opened = leaders.iter().filter_map(|(leader, syntax)| {
            Some((text.find(&format!("{leader}<region> "))?, *leader, *syntax))
        });
        let (at, leader, syntax) = opened.min_by_key(|(at, ..)| *at)?;
        let (before, rest) = text.split_at(at);
        let rest = &rest[leader.len() + "<region> ".len()..];
        let (head, rest) = rest.split_once('\n').expect("a region's first line");
        let close = format!("{leader}</region>\n");
        let (inside, after) = rest.split_once(close.as_str()).expect("a region that ends");
        let (head, different) = split_different(head);
        let (name, rest) = head.split_at(head.find(['<', '(']).expect("a call"));
        let (generics, rest) = split_generics(rest);
        let (arguments, rest) = split_parentheses(rest);
        let rest = rest.strip_prefix(": ").expect("`: ` between a call and its function");
        let (parameters, rest) = split_parentheses(rest);
        let (result, bound) = match rest.split_once(" as ") {
            Some((result, "return")) => (result, Bound::Tail),
            Some((result, pattern)) => match pattern.strip_suffix(" untried") {
                Some(pattern) => (result, Bound::Answer(pattern)),
                None => (result, Bound::Pattern(pattern)),
            },
            None => (rest, Bound::Nothing),
        };
        let result = result.trim().strip_prefix("-> ").unwrap_or("");
        Some(Self {
            before,
            inside,
            after,
            syntax,
            name,
            generics,
            arguments,
            parameters,
            result,
            bound,
            different,
        })
    }

    /// Whether the findings of a form are known to differ.
    pub fn differs(&self, form: &str) -> bool {
        self.different.contains(&form)
    }

    /// The file with its region moved, for each form that its language has.
    pub fn moved(&self) -> Vec<(&'static str, Moved)> {
        let alone = |text| Moved { text, elsewhere: None };
        let [function, closure, other] = FORMS;
        match self.syntax {
            Syntax::Lua => vec![
                (function, alone(self.in_lua(&format!("function {}", self.name), true))),
                (closure, alone(self.in_lua(&format!("{} = function", self.name), false))),
            ],
            Syntax::Rust => vec![
                (function, alone(self.in_function())),
                (closure, alone(self.in_closure())),
                (other, self.in_another_file()),
            ],
        }
    }

    fn is_async(&self) -> bool {
        self.inside.contains(".await")
    }

    /// Whether what the function gives is an answer that its caller passes on when it is an error.
    fn may_fail(&self) -> bool {
        let name = self.result.split('<').next().unwrap_or_default();
        let passed_on = matches!(self.bound, Bound::Nothing | Bound::Pattern(_));
        name.ends_with("Result") && passed_on
    }

    /// The statement or tail that takes the region's place.
    fn call(&self, arguments: &str) -> String {
        let wait = if self.is_async() { ".await" } else { "" };
        let or_leave = if self.may_fail() { "?" } else { "" };
        let call = format!("{}({arguments}){wait}{or_leave}", self.name);
        match self.bound {
            Bound::Nothing => format!("{call};\n"),
            Bound::Pattern(pattern) | Bound::Answer(pattern) => {
                format!("let {pattern} = {call};\n")
            }
            Bound::Tail => format!("{call}\n"),
        }
    }

    /// The end of the function's body.
    fn tail(&self) -> String {
        let given = match self.bound {
            Bound::Tail => return String::new(),
            Bound::Nothing if self.may_fail() => "()",
            Bound::Nothing => return String::new(),
            Bound::Pattern(pattern) | Bound::Answer(pattern) => pattern.trim_start_matches("mut "),
        };
        if self.may_fail() { format!("Ok({given})\n") } else { format!("{given}\n") }
    }

    fn gives(&self) -> String {
        if self.result.is_empty() { String::new() } else { format!("-> {} ", self.result) }
    }

    /// The region as a function, for a place where `self` is called `this`.
    fn function(&self, visibility: &str) -> String {
        let wait = if self.is_async() { "async " } else { "" };
        let Self { name, generics, parameters, .. } = self;
        let body = if self.takes_self() { renamed(self.inside) } else { self.inside.to_owned() };
        let (gives, tail) = (self.gives(), self.tail());
        format!("{visibility}{wait}fn {name}{generics}({parameters}) {gives}{{\n{body}{tail}}}\n")
    }

    fn takes_self(&self) -> bool {
        self.parameters.starts_with("this:")
    }

    fn in_function(&self) -> String {
        let call = self.call(self.arguments);
        format!("{}{call}{}\n{}", self.before, self.after, self.function(""))
    }

    fn in_closure(&self) -> String {
        let wait = if self.is_async() { "async " } else { "" };
        let (name, gives, tail) = (self.name, self.gives(), self.tail());
        let closure = format!("let mut {name} = {wait}|| {gives}{{\n{}{tail}}};\n", self.inside);
        format!("{}{closure}{}{}", self.before, self.call(""), self.after)
    }

    fn in_another_file(&self) -> Moved {
        // Behind all macros of the file, so that they are in scope there.
        let declared = format!("\nmod elsewhere;\nuse elsewhere::{};\n", self.name);
        let call = self.call(self.arguments);
        let imports = self.before.split_inclusive(';').map(str::trim_start);
        let imports: String = imports
            .filter(|item| item.starts_with("use "))
            .map(|item| format!("{item}\n"))
            .collect();
        Moved {
            text: format!("{}{call}{}{declared}", self.before, self.after),
            elsewhere: Some(format!("{imports}use super::*;\n\n{}", self.function("pub "))),
        }
    }

    /// The region as a Lua function that stands directly before its call.
    fn in_lua(&self, head: &str, with_parameters: bool) -> String {
        let (parameters, arguments) =
            if with_parameters { (self.parameters, self.arguments) } else { ("", "") };
        let call = format!("{}({arguments})", self.name);
        let (tail, call) = match self.bound {
            Bound::Nothing => (String::new(), call),
            Bound::Pattern(names) | Bound::Answer(names) => {
                (format!("return {names}\n"), format!("local {names} = {call}"))
            }
            Bound::Tail => (String::new(), format!("return {call}")),
        };
        let function = format!("local {head}({parameters})\n{}{tail}end\n", self.inside);
        format!("{}{function}{call}\n{}", self.before, self.after)
    }
}

/// The known differences at the end of a region's first line: ` FN in a closure`.
fn split_different(head: &str) -> (&str, Vec<&str>) {
    let mut parts = head.split(" FN ");
    let head = parts.next().unwrap_or_default();
    let different: Vec<_> = parts.collect();
    for form in &different {
        assert!(FORMS.contains(form), "no form is called {form:?}");
    }
    (head, different)
}

/// `<…>` at the beginning of a text, and the rest.
fn split_generics(text: &str) -> (&str, &str) {
    if !text.starts_with('<') {
        return ("", text);
    }
    let mut depth = 0;
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        depth += match character {
            '<' => 1,
            '>' if before != '-' => -1,
            _ => 0,
        };
        if depth == 0 {
            return text.split_at(at + 1);
        }
        before = character;
    }
    panic!("generics that do not end: {text}");
}

/// What stands in the parentheses that a text begins with, and the rest.
fn split_parentheses(text: &str) -> (&str, &str) {
    let inside = text.strip_prefix('(').expect("an opening parenthesis");
    let mut depth = 1;
    for (at, character) in inside.char_indices() {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return (&inside[..at], &inside[at + 1..]);
        }
    }
    panic!("parentheses that do not end: {text}");
}

/// The code with the word `self` written `this`.
fn renamed(code: &str) -> String {
    let joins = |character: Option<char>| {
        character.is_some_and(|character| character.is_alphanumeric() || character == '_')
    };
    let mut text = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find("self") {
        let (before, after) = (&rest[..at], &rest[at + "self".len()..]);
        let part = joins(before.chars().next_back()) || joins(after.chars().next());
        let path = after.starts_with("::");
        text.push_str(before);
        text.push_str(if part || path { "self" } else { "this" });
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let moved = Region::of(text).unwrap().moved().into_iter();
        moved.flat_map(|(_, moved)| [Some(moved.text), moved.elsewhere]).flatten().collect()
    }

    #[test]
    fn a_region_is_read_and_moved() {
        let text = "use a::{b, c};\nfn f() {\n// <region> moved(x, &y): (x: X, y: &Y) -> R::Result<u8> as z\n\
                    let z = x.go(y)?; //~ rule\n// </region>\nuse_it(z);\n}\n";
        let body = "let z = x.go(y)?; //~ rule\nOk(z)\n";
        let expected = [
            format!(
                "use a::{{b, c}};\nfn f() {{\nlet z = moved(x, &y)?;\nuse_it(z);\n}}\n\n\
                 fn moved(x: X, y: &Y) -> R::Result<u8> {{\n{body}}}\n"
            ),
            format!(
                "use a::{{b, c}};\nfn f() {{\nlet mut moved = || -> R::Result<u8> {{\n{body}}};\n\
                 let z = moved()?;\nuse_it(z);\n}}\n"
            ),
            "use a::{b, c};\nfn f() {\nlet z = moved(x, &y)?;\nuse_it(z);\n}\n\n\
             mod elsewhere;\nuse elsewhere::moved;\n"
                .to_owned(),
            format!(
                "use a::{{b, c}};\nuse super::*;\n\npub fn moved(x: X, y: &Y) -> R::Result<u8> {{\n\
                 {body}}}\n"
            ),
        ];
        assert_eq!(texts(text), expected);
    }

    #[test]
    fn the_end_of_a_function_gives_what_the_function_gives() {
        let text = "impl L {\nasync fn f(&self) -> bool {\n\
                    // <region> gone<F: Fn(u8) -> u8>(self, f): (this: &L, f: F) -> bool as return\n\
                    self.itself.del(f(1)).await.is_ok()\n// </region>\n}\n}\n";
        let texts = texts(text);
        let function = "async fn gone<F: Fn(u8) -> u8>(this: &L, f: F) -> bool {\n\
                        this.itself.del(f(1)).await.is_ok()\n}\n";
        let expected = format!(
            "impl L {{\nasync fn f(&self) -> bool {{\ngone(self, f).await\n}}\n}}\n\n{function}"
        );
        assert_eq!(texts[0], expected);
        let closure = "let mut gone = async || -> bool {\nself.itself.del(f(1)).await.is_ok()\n};\n\
                       gone().await\n}\n}\n";
        assert!(texts[1].ends_with(closure), "{}", texts[1]);
    }

    #[test]
    fn what_can_not_fail_is_called_plainly() {
        let text = "//! About.\nfn f() {\n// <region> two(): () -> (u8, u8) as (a, b) FN in a closure\n\
                    let (a, b) = (1, 2);\n// </region>\n}\n";
        assert!(Region::of(text).unwrap().differs("in a closure"));
        let texts = texts(text);
        let expected = "//! About.\nfn f() {\nlet (a, b) = two();\n}\n\n\
                        fn two() -> (u8, u8) {\nlet (a, b) = (1, 2);\n(a, b)\n}\n";
        assert_eq!(texts[0], expected);
        assert!(texts[2].ends_with("}\n\nmod elsewhere;\nuse elsewhere::two;\n"), "{}", texts[2]);
    }

    #[test]
    fn an_answer_may_be_bound_as_it_is() {
        let text = "fn f() {\n// <region> ask(c): (c: &mut C) -> R::Result<u8> as answer untried\n\
                    let answer = c.get();\n// </region>\nc.done();\nanswer?;\n}\n";
        let expected = "fn f() {\nlet answer = ask(c);\nc.done();\nanswer?;\n}\n\n\
                        fn ask(c: &mut C) -> R::Result<u8> {\nlet answer = c.get();\nanswer\n}\n";
        assert_eq!(texts(text)[0], expected);
    }

    #[test]
    fn a_region_of_a_script_becomes_a_local_function() {
        let text = "-- <region> taken(KEYS[1]): (key) as won\nlocal won = redis.call('SETNX', key, 1)\n\
                    -- </region>\nreturn won\n";
        let body = "\nlocal won = redis.call('SETNX', key, 1)\nreturn won\nend\n";
        let expected = [
            format!("local function taken(key){body}local won = taken(KEYS[1])\nreturn won\n"),
            format!("local taken = function(){body}local won = taken()\nreturn won\n"),
        ];
        assert_eq!(texts(text), expected);
    }
}
