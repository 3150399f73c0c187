/// The commands at a break.
extension Command {
    /// In listing order; `:out` and an empty line also work there.
    static let atBreak: [Command] = [
        Command(
            name: "watch", arguments: "[EXPRESSION|off]", documentation: "Shows an expression at each break.",
            completion: .lua),
        Command(
            name: "next", arguments: "",
            documentation: "Runs to the next line of the function; an empty line repeats it."),
        Command(name: "step", arguments: "", documentation: "Runs to the next line, also in called functions."),
        Command(
            name: "continue", arguments: "", documentation: "Continues, as Ctrl-D does. :out runs to the caller."),
        Command(name: "stop", arguments: "", documentation: "Stops the script, as Ctrl-C does."),
        Command(name: "where", arguments: "", documentation: "The active functions."),
        Command(name: "up", arguments: "", documentation: "Selects the function that called this one."),
        Command(name: "down", arguments: "", documentation: "Selects the function that this one called."),
        Command(name: "locals", arguments: "", documentation: "The local variables of the function."),
        Command(
            name: "upvalues", arguments: "",
            documentation: "Its variables of enclosing functions. Any other line is evaluated in the function."),
    ]

    /// Whether the debugger executes it.
    var isOfDebugger: Bool { ["break", "debug"].contains(name) || Self.atBreak.contains { $0.name == name } }
}
