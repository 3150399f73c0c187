import TestSupport
import Testing

/// scripts/lib/layers.py: the check of scripts/test that the files of a C module are in layers.
@Suite("The check of layers")
struct LayerCheckTests {
    private func check(_ files: [String: String]) throws -> ProcessOutput {
        let folder = try TemporaryDirectory()
        try folder.write("/* Layers, ground first: Ground; Upper, Beside. */", to: "Module/include/Module.h")
        for layer in ["Ground", "Upper", "Beside"] {
            try folder.write("int \(layer)_x(void) {\n    return 1;\n}", to: "Module/\(layer)/x.c")
        }
        for (name, source) in files { try folder.write(source, to: "Module/\(name)") }
        return try run("python3", ["\(Project.root)/scripts/lib/layers.py", folder.path])
    }

    @Test("the sources pass")
    func sources() throws {
        let found = try run("python3", ["\(Project.root)/scripts/lib/layers.py", "\(Project.root)/Sources"])
        #expect(found.status == .exited(0) && found.stdout == "", "\(found.stdout)")
    }

    @Test(
        "a circle and a call from below are refused",
        arguments: [
            (["a.c": "int a(void) { return b(); }", "b.c": "int b(void) { return a(); }"], "a.c calls b, b.c calls a"),
            (
                [
                    "a.c": "int a(int x) { return c(x); }", "Ground/h.h": "static inline int c(int x) { return b(x); }",
                    "b.c": "int\nb(int x) {\n    return (int)(long)&a;\n}",
                ], "a circle: a.c calls b, b.c calls a"
            ),
            (["Ground/a.c": "int a(void) { return Upper_x(); }"], "Ground/a.c: Upper_x is in Upper/x.c"),
            (["Ground/a.c": "int (*a)(void) = Upper_x;"], "Ground/a.c: Upper_x is in Upper/x.c"),
            (["Upper/a.c": "int a(void) { return Beside_x(); }"], "Upper/a.c: Beside_x is in Beside/x.c"),
            (["Upper/a.c": "int a(void) { return top(); }", "top.c": "int top(void) { return 0; }"], "Upper/a.c: top"),
            (
                ["Ground/a.c": "#include \"../Upper/a.h\"", "Upper/a.h": "int b(void);"],
                "Ground/a.c: includes Upper/a.h"
            ),
        ])
    func refused(_ files: [String: String], finding: String) throws {
        let found = try check(files)
        #expect(found.status == .exited(1))
        #expect(found.stdout.hasPrefix("Module: "))
        #expect(found.stdout.contains(finding) && found.stdout.split(separator: "\n").count == 1, "\(found.stdout)")
    }

    @Test(
        "calls to below, of an own function, and what is text or a structure's name are none",
        arguments: [
            [
                "Upper/a.c": "int a(void) { return Ground_x(); }",
                "a.c": "int b(void) { return Upper_x() + Beside_x(); }",
            ],
            ["Upper/a.c": "static int Beside_x(int y) { return y; }\nint a(void) { return Beside_x(1); }"],
            ["Ground/a.c": "/* Upper_x() */ const char *a = \"Upper_x()\"; int b(struct Upper_x *x) { return !x; }"],
            [
                "Ground/linux.c": "int a(void) { return 1; }\nint b(void) { return a(); }",
                "Ground/posix.c": "int a(void) { return 2; }",
            ],
        ])
    func accepted(_ files: [String: String]) throws {
        let found = try check(files)
        #expect(found.status == .exited(0) && found.stdout == "", "\(found.stdout)")
    }
}
