import Application
import ArgumentParser
import Files
import Items

/// The declarations from which the shells' completions are made: those of ``CubbyCommand``, and the options of a run
/// without a subcommand.
struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: MainCommand.name, version: ProgramVersion.text,
        subcommands: MainCommand.configuration.subcommands)

    @OptionGroup var host: HostOptions

    @Option(.code) var code: [String] = []

    @Option(.modules) var modules: [String] = []

    @Flag(.staysAtPrompt) var staysAtPrompt = false

    private static let scriptOption = "--generate-completion-script"

    /// Whether a shell's completions or their script are requested.
    static func isRequested(_ words: [String]) -> Bool {
        guard let first = words.first else { return false }
        return first == "---completion" || first.hasPrefix(scriptOption)
    }

    /// Writes the script of a shell, or the candidates for a word, and ends.
    static func answer(_ words: [String]) {
        SignalMask.restore()
        if words.count == 2, words[0] == scriptOption, let shell = CompletionShell(rawValue: words[1]) {
            return StandardStream.output.put(script(for: shell) + "\n")
        }
        main(words)
    }

    /// The library's script, extended by files in the place of a subcommand, since a script runs without one.
    private static func script(for shell: CompletionShell) -> String {
        let script = completionScript(for: shell)
        switch shell {
        case .bash: return script + "\n" + bashAddition
        case .zsh:
            // The first group of commands is the program's own.
            let commands = "_describe -V subcommand subcommands && ret=0"
            guard let place = script.firstRange(of: commands) else { return script }
            return script[..<place.lowerBound] + "\(commands)\n        _files && ret=0" + script[place.upperBound...]
        case .fish:
            return script
                + "\ncomplete -c cubby -n '__cubby_should_offer_completions_for_positional \"cubby\" -eq 1' -F"
        default: return script
        }
    }

    /// Candidates are used literally: bash's `compgen` would run the code of `$(…)` in the name of a field, and
    /// interprets quotes within a quoted word.
    private static let bashAddition = #"""
        __cubby_add_completions() {
            local completion
            while IFS='' read -r completion; do
                [[ -n "${completion}" ]] || continue
                [[ "${1}" != -W || "${completion}" == "${cur//\\/}"* ]] && COMPREPLY+=("${completion}")
            done < <(if [[ "${1}" == -W ]]; then printf '%s\n' "${2}"; else IFS=$'\n' compgen "${@}" -- "${cur}"; fi)
        }

        complete -o filenames -o default -F _cubby cubby
        """#
}

/// Candidates for a shell, in the notation that its script expects.
enum CompletionCandidates {
    /// The word being completed, without quotes.
    ///
    /// - Parameters:
    ///   - words: the command line.
    ///   - index: the word's index in it.
    ///   - prefix: the word up to the cursor; zsh's script starts at the last space, even within quotes.
    ///   - shell: the requesting shell.
    /// - Returns: the text that candidates begin with.
    static func typed(
        _ words: [String], _ index: Int, _ prefix: String, in shell: CompletionShell? = .requesting
    ) -> String {
        let word = shell == .zsh && words.indices.contains(index) ? words[index] : prefix
        // fish before version 4 has removed the quotes.
        return shell == .fish && !word.hasPrefix("'") && !word.hasPrefix("\"") ? word : unquoted(word)
    }

    /// Names of fields and folders are data. Those with control characters are left out, and those with a character
    /// that bash does not escape and would expand.
    static func escaped(_ words: [String], for shell: CompletionShell? = .requesting) -> [String] {
        let fitting = words.filter { word in
            !word.unicodeScalars.contains {
                $0.properties.generalCategory == .control || "$`".unicodeScalars.contains($0)
            }
        }
        // In zsh a colon separates a description.
        guard shell == .zsh else { return fitting }
        return fitting.map { $0.replacing("\\", with: "\\\\").replacing(":", with: "\\:") }
    }

    /// A word of a command line without shell quotes and escapes; a quote may be unclosed.
    static func unquoted(_ word: String) -> String {
        var text = ""
        var quote: Character?
        var rest = word.makeIterator()
        while let character = rest.next() {
            switch character {
            case "\\" where quote != "'": if let escaped = rest.next() { text.append(escaped) }
            case _ where character == quote: quote = nil
            case "\"" where quote == nil, "'" where quote == nil: quote = character
            default: text.append(character)
            }
        }
        return text
    }

    /// The value of an option on a command line.
    static func value(of option: String, in words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word.hasPrefix(option + "=") { return unquoted(String(word.dropFirst(option.count + 1))) }
            guard word == option, index + 1 < words.count else { continue }
            // bash passes the equals sign as a separate word.
            let value = words[index + 1] == "=" ? words.dropFirst(index + 2).first : words[index + 1]
            return value.map(unquoted)
        }
        return nil
    }
}

extension CompletionKind {
    /// Containers: `:memory:`, the usual one, those with a configuration, and folders.
    static let container = typed { ContainerCompletion.candidates($1) }
}

/// Candidates for the value of `--container`.
enum ContainerCompletion {
    /// - Parameter prefix: the typed text.
    /// - Returns: the known containers, then folders.
    static func candidates(_ prefix: String) -> [String] {
        let known = ([MemoryContainer.name] + paths).filter { $0.hasPrefix(prefix) }
        return known + folders(prefix).filter { !known.contains($0) }
    }

    /// The usual container, and those with a configuration.
    private static var paths: [String] {
        var paths = ApplicationContainer.locate().map { [$0.path] } ?? []
        if let folder = ConfigurationFolder.locate() {
            for path in ConfigurationFile.containers(in: folder) where !paths.contains(path) { paths.append(path) }
        }
        return paths.filter(isContainer)
    }

    /// Containers in the folder of a path; if there are none, its other folders, as steps to one.
    private static func folders(_ prefix: String) -> [String] {
        let layer = PosixFileLayer()
        let typed = prefix.hasPrefix("~/") ? (HomeFolder.path ?? "~") + prefix.dropFirst() : prefix
        let slash = typed.lastIndex(of: "/")
        let folder = slash.map { String(typed[...$0]) } ?? ""
        let start = slash.map { typed[typed.index(after: $0)...] } ?? typed[...]
        let names = ((try? layer.list(folder.isEmpty ? "." : folder)) ?? []).sorted().filter { name in
            name.hasPrefix(start) && (!name.hasPrefix(".") || start.hasPrefix("."))
                && layer.exists(folder + name + "/.")
        }
        let containers = names.filter { isContainer(folder + $0) }
        return (containers.isEmpty ? names : containers).map { folder + $0 }
    }

    private static func isContainer(_ path: String) -> Bool {
        let container = ApplicationContainer(path: path)
        return PosixFileLayer().exists(container.documents) && PosixFileLayer().exists(container.library)
    }
}

extension CompletionKind {
    /// A predicate: completes the field that is being typed in it.
    static let predicate = typed { FieldCompletion($0).predicates($1) }

    /// Fields, with commas between them.
    static let fields = typed { FieldCompletion($0).lists($1) }

    /// Candidates by the words of the command and by what is typed of the last one, without a shell's quotes.
    private static func typed(_ candidates: @escaping @Sendable ([String], String) -> [String]) -> CompletionKind {
        .custom { words, index, prefix in
            CompletionCandidates.escaped(candidates(words, CompletionCandidates.typed(words, index, prefix)))
        }
    }
}

/// The fields of the items in the container that a command line names.
struct FieldCompletion {
    private let names: [String]

    /// - Parameter words: the command line.
    init(_ words: [String]) {
        names = Self.names(in: CompletionCandidates.value(of: "--container", in: words)).sorted()
    }

    /// A predicate with the name at its end completed; nothing within a constant.
    func predicates(_ text: String) -> [String] {
        guard text.count(where: { $0.is("\"") }).isMultiple(of: 2), text.count(where: { $0.is("'") }).isMultiple(of: 2)
        else { return [] }
        return completed(text, after: text.lastIndex { !($0.isLetter || $0.isNumber || $0.is("_")) })
    }

    /// A list with the name at its end completed.
    func lists(_ text: String) -> [String] { completed(text, after: text.lastIndex(of: ",")) }

    private func completed(_ text: String, after index: String.Index?) -> [String] {
        let start = index.map { text.index(after: $0) } ?? text.startIndex
        return names.filter { $0.hasPrefix(text[start...]) }.map { text[..<start] + $0 }
    }

    /// The names, as far as they can be read: a completion reports no errors.
    private static func names(in path: String?) -> [String] {
        let path = path.map { $0.hasPrefix("~/") ? (HomeFolder.path ?? "~") + $0.dropFirst() : $0 }
        guard !ContainerArgument.isMemory(path), let container = ApplicationContainer.locate(path),
            PosixFileLayer().exists(container.documents),
            let store = try? ItemStore.open(
                ArchivePersistence(folder: container.documents, isReadOnly: true, indexFolder: container.caches),
                schema: OwnFields.schema(of: container))
        else { return ItemStore().fieldNames }
        return store.fieldNames
    }
}
