import LineEditor
import Lua
import Scripting
import Wording

/// The prompts: as `_PROMPT` and `_PROMPT2` say, which may be functions, as in Lua's own prompt.
struct PromptText {
    let host: ScriptHost
    static let standard = "> "
    static let continuation = "… "

    /// What stands before an entry.
    ///
    /// - Parameter errors: how many handlers and timers failed since somebody looked.
    /// - Returns: the prompt, with that number when it is not 0.
    func prompt(errors: Int) -> StyledText {
        var text = StyledText()
        if errors > 0 { text.append("!\(errors) ", .warning) }
        text.append(custom("_PROMPT") ?? Self.standard, .prompt)
        return text
    }

    /// What stands before the other lines of one.
    func continuation() -> StyledText {
        StyledText(custom("_PROMPT2") ?? Self.continuation, .continuationPrompt)
    }

    private func custom(_ name: String) -> String? {
        switch host.state.globals.rawGet(.text(name)) {
        case .string(let text): return shown(text.description)
        case .function(let function):
            guard case .success(let values) = host.run(function), let first = values.first else { return nil }
            return shown(host.state.describe(first).description)
        default: return nil
        }
    }

    /// Without control characters, which would move the cursor behind the editor's back.
    private func shown(_ text: String) -> String {
        let kept = text.unicodeScalars.filter { !VisibleText.isHidden($0) }
        return String(String.UnicodeScalarView(kept.prefix(200)))
    }
}
