import LineEditor
import Lua
import Scripting
import Wording

/// The prompts: `_PROMPT` and `_PROMPT2`, strings or functions, as in Lua's own prompt.
struct PromptText {
    let host: ScriptHost
    static let standard = "> "
    static let continuation = "… "

    /// The prompt of an entry.
    ///
    /// - Parameter errors: the number of unseen failures of handlers and timers.
    /// - Returns: the prompt, with that number unless it is 0.
    func prompt(errors: Int) -> StyledText {
        var text = StyledText()
        if errors > 0 { text.append("!\(errors) ", .warning) }
        text.append(custom("_PROMPT") ?? Self.standard, .prompt)
        return text
    }

    /// The prompt of an entry's further lines.
    func continuation() -> StyledText {
        StyledText(custom("_PROMPT2") ?? Self.continuation, .continuationPrompt)
    }

    private func custom(_ name: String) -> String? {
        switch host.state.globals[name] {
        case .string(let text): return shown(text.description)
        case .function(let function):
            guard case .success(let values) = host.run(function), let first = values.first else { return nil }
            return shown(host.state.describe(first).description)
        default: return nil
        }
    }

    /// The text without control characters, which would move the cursor unknown to the editor.
    private func shown(_ text: String) -> String {
        let kept = text.unicodeScalars.filter { !VisibleText.isHidden($0) }
        return String(String.UnicodeScalarView(kept.prefix(200)))
    }
}
