import ArgumentParser

/// The options of `cubby` without a command's name.
struct StartOptions: ParsableArguments {
    @OptionGroup var host: HostOptions

    @Option(
        name: .customShort("e"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Run a chunk, or show an expression's values; several run one after the other.", valueName: "code"))
    var code: [String] = []

    @Option(
        name: .customShort("l"),
        help: ArgumentHelp(
            "First require a module, from this folder, too, as a global of its name.", valueName: "module"))
    var modules: [String] = []

    @Flag(name: .customShort("i"), help: "A prompt after the script.")
    var staysAtPrompt = false
}
