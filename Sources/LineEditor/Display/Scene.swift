/// All that is to be seen: the prompt, the text with its styles, and what stands below it.
public struct Scene: Sendable {
    /// What stands before the first line.
    public var prompt: StyledText
    /// What stands before every other line.
    public var continuationPrompt: StyledText
    /// The text and the index of the character that the cursor is at.
    public var characters: [Character]
    public var cursor: Int
    /// The styles of the text; where two overlap the later one shows.
    public var spans: [Span]
    /// Text shown behind the end that isn't there yet; one line.
    public var suggestion: String
    /// Lines below the text, each cut to the width.
    public var below: [StyledText]

    public init(
        prompt: StyledText, continuationPrompt: StyledText = "", buffer: EditBuffer = EditBuffer(),
        spans: [Span] = [], suggestion: String = "", below: [StyledText] = []
    ) {
        self.prompt = prompt
        self.continuationPrompt = continuationPrompt
        characters = buffer.characters
        cursor = buffer.cursor
        self.spans = spans
        self.suggestion = suggestion
        self.below = below
    }
}
