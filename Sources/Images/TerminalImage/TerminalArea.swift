/// The room that a picture may take in a terminal.
package struct TerminalArea: Sendable, Hashable {
    /// The most cells across.
    package var columns: Int
    /// The most cells down.
    package var rows: Int
    /// A cell's width in pixels.
    package var cellWidth: Int
    /// A cell's height in pixels.
    package var cellHeight: Int

    /// - Parameters:
    ///   - columns: the most cells across, at least 1.
    ///   - rows: the most cells down, at least 1.
    ///   - cellWidth: in pixels; a terminal that does not tell is taken to have cells of 8 by 16.
    ///   - cellHeight: in pixels.
    package init(columns: Int, rows: Int, cellWidth: Int = 8, cellHeight: Int = 16) {
        self.columns = max(columns, 1)
        self.rows = max(rows, 1)
        self.cellWidth = min(max(cellWidth, 1), 256)
        self.cellHeight = min(max(cellHeight, 1), 256)
    }

    /// The pixels of a picture that is to fit, in its own proportions and not enlarged.
    package func pixels(for image: Image) -> ImageSizing {
        ImageSizing(
            width: min(columns * cellWidth, image.width, 65_535), height: min(rows * cellHeight, image.height, 65_535))
    }
}
