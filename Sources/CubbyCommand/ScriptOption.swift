import ArgumentParser

/// An option of `cubby` without a command's name, in addition to those of the host, for ``StartCommand`` and
/// ``CompletionCommand``. Not in an option group: the library's check of it would take a twentieth of each start.
struct ScriptOption {
    let name: NameSpecification
    let parsing: ArrayParsingStrategy
    private(set) var help: ArgumentHelp

    private init(
        _ letter: Character, parsing: ArrayParsingStrategy = .singleValue, _ help: String, value: String? = nil
    ) {
        name = .customShort(letter)
        self.parsing = parsing
        self.help = ArgumentHelp(stringLiteral: help)
        self.help.valueName = value
    }

    static let code = ScriptOption(
        "e", parsing: .unconditionalSingleValue,
        "Run a chunk, and print the values of an expression or a call; several run in order.", value: "code")
    static let modules = ScriptOption(
        "l", "First require a module, also from the working folder, as a global of its name.", value: "module")
    static let staysAtPrompt = ScriptOption("i", "Open a prompt after the script.")
}

extension Option<[String]> {
    /// An option that may be repeated.
    init(wrappedValue: [String], _ option: ScriptOption) {
        self.init(wrappedValue: wrappedValue, name: option.name, parsing: option.parsing, help: option.help)
    }
}

extension Flag<Bool> {
    /// An option without a value.
    init(wrappedValue: Bool, _ option: ScriptOption) {
        self.init(wrappedValue: wrappedValue, name: option.name, help: option.help)
    }
}
