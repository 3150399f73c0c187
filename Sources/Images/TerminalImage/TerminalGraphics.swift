/// The methods of a terminal to show a picture, the best first.
package enum TerminalGraphics: Sendable, Hashable {
    /// The kitty graphics protocol: a PNG file in the terminal's pixels.
    case kitty
    /// iTerm2's inline images, also in WezTerm and others: a JPEG file.
    case iTerm2
    /// DEC's sixels, of at most 256 colours.
    case sixel
    /// Two pixels per cell as characters, for every terminal with colours.
    case halfBlocks(TerminalColors)
}
