import Application
import ArgumentParser
import Files

/// The declarations from which the shells' completions are made: those of ``CubbyCommand``, and the options of a run
/// without a subcommand.
struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: CubbyCommand.name, version: ProgramVersion.text,
        subcommands: CubbyCommand.configuration.subcommands)

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
