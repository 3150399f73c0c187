/// The ways in which a terminal can show a picture, the best first.
package enum TerminalGraphics: Sendable, Hashable {
    /// The kitty graphics protocol: a PNG file, in the terminal's own pixels.
    case kitty
    /// iTerm2's inline images, which WezTerm and others know, too: a JPEG file.
    case iTerm2
    /// DEC's sixels, of at most 256 colours.
    case sixel
    /// Two pixels a cell, as characters: what every terminal with colours can show.
    case halfBlocks(TerminalColors)
}
