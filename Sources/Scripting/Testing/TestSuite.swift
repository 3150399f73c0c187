package import Lua

/// The tests that a file declares, in groups.
package final class TestSuite {
    /// A group of tests with what runs before and after each of them.
    package final class Group {
        package let name: String
        package let outer: Group?
        package var before: [LuaFunction] = []
        package var after: [LuaFunction] = []

        init(_ name: String, in outer: Group?) { (self.name, self.outer) = (name, outer) }

        /// The groups from the file down to this one.
        package var path: [Group] { (outer?.path ?? []) + [self] }
    }

    /// A test, and what is checked in the launches after it.
    package struct Test {
        package let name: String
        package let group: Group
        /// The first, and one for each later launch of the same container.
        package let functions: [LuaFunction]
        /// Why it is left out; nil if it is not.
        package let skipReason: String?
        /// The line of its function; 0 if it has none.
        package let line: Int

        /// The names of its groups and its own.
        package var path: [String] { group.path.dropFirst().map(\.name) + [name] }
    }

    package private(set) var tests: [Test] = []
    private var open: [Group]
    /// Whether declarations are taken: while the file is loaded.
    package var isOpen = true
    /// The failed expectations of the running test; one that a script catches counts as well.
    package var failures: [String] = []
    /// Why the running test has ended itself; nil if it has not.
    package var skipReason: String?

    init() { open = [Group("", in: nil)] }

    private var group: Group { open[open.count - 1] }

    /// Declares a test.
    ///
    /// - Throws: ``LuaError`` outside of the loading of a file, and for a name that its group has already.
    package func add(_ name: String, _ functions: [LuaFunction], skipReason: String? = nil) throws(LuaError) {
        try checkOpen("test")
        let group = group
        if tests.contains(where: { $0.group === group && $0.name == name }) {
            throw LuaError(.argument, "there is a test '\(name)' already: two tests of a group need two names")
        }
        tests.append(
            Test(
                name: name, group: group, functions: functions, skipReason: skipReason,
                line: functions.first?.place.line ?? 0))
    }

    /// Declares what a function declares as a group.
    package func addGroup(_ name: String, _ body: LuaFunction) throws(LuaError) {
        try checkOpen("test.group")
        open.append(Group(name, in: group))
        defer { open.removeLast() }
        try body.call()
    }

    package func addBefore(_ function: LuaFunction) throws(LuaError) {
        try checkOpen("test.before")
        group.before.append(function)
    }

    package func addAfter(_ function: LuaFunction) throws(LuaError) {
        try checkOpen("test.after")
        group.after.append(function)
    }

    private func checkOpen(_ name: String) throws(LuaError) {
        guard isOpen else {
            throw LuaError(.argument, "\(name) declares what a file has: not within a test that runs")
        }
    }
}
