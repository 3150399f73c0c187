/// The visible content: the prompt, the text with its styles, and the lines below it.
package struct Scene: Sendable {
    /// The prompt of the first line.
    package var prompt: StyledText
    /// The prompt of all other lines.
    package var continuationPrompt: StyledText
    /// The text, and the index of the character at the cursor.
    package var characters: [Character]
    package var cursor: Int
    /// The styles of the text; later spans override earlier ones.
    package var spans: [Span]
    /// The suggestion behind the end of the text; one line.
    package var suggestion: String
    /// The text at the right margin of the first line, if there is room.
    package var margin: StyledText = ""
    /// Lines below the text, each truncated to the width.
    package var below: [StyledText]

    package init(
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
