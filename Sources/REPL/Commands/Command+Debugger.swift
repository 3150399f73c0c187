/// The commands at a break.
extension Command {
    /// In listing order; `:out` and an empty line also work there.
    static let atBreak: [Command] = [
        Command(
            name: "watch", arguments: "[EXPRESSION|off]", documentation: "Shows an expression at each break.",
            completion: .lua),
        Command(
            name: "next", arguments: "",
            documentation: "To the next line of the function; an empty line does it again."),
        Command(name: "step", arguments: "", documentation: "To the next line, also in a function that is called."),
        Command(
            name: "continue", arguments: "", documentation: "Runs on. :out runs to the caller, Ctrl-D as :continue."),
        Command(name: "stop", arguments: "", documentation: "Stops the script, as Ctrl-C does."),
        Command(name: "where", arguments: "", documentation: "The active functions."),
        Command(name: "up", arguments: "", documentation: "Selects the function that called this one."),
        Command(name: "down", arguments: "", documentation: "Selects the function that this one called."),
        Command(name: "locals", arguments: "", documentation: "The local variables of the function."),
        Command(
            name: "upvalues", arguments: "",
            documentation: "Those of enclosing functions that it uses. Any other line is evaluated in the function."),
    ]

    /// Whether the debugger executes it.
    var isOfDebugger: Bool { ["break", "debug"].contains(name) || Self.atBreak.contains { $0.name == name } }
}
