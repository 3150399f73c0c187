/// The words of the `choice` parameters, in the shim's form.
final class LuaChoices {
    let text: UnsafePointer<CChar>

    /// Nil when no parameter is a choice.
    init?(_ parameters: [LuaParameter]) {
        guard let words = LuaType.words(parameters) else { return nil }
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: words.count)
        memory.initialize(from: words, count: words.count)
        text = UnsafePointer(memory)
    }

    deinit { text.deallocate() }
}
