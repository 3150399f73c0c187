/// Maximum area of a picture in a terminal.
package struct TerminalArea: Sendable, Hashable {
    /// Maximum width in cells.
    package var columns: Int
    /// Maximum height in cells.
    package var rows: Int
    /// A cell's width in pixels.
    package var cellWidth: Int
    /// A cell's height in pixels.
    package var cellHeight: Int

    /// - Parameters:
    ///   - columns: the maximum width in cells, at least 1.
    ///   - rows: the maximum height in cells, at least 1.
    ///   - cellWidth: in pixels; by default cells have 8 by 16.
    ///   - cellHeight: in pixels.
    package init(columns: Int, rows: Int, cellWidth: Int = 8, cellHeight: Int = 16) {
        self.columns = max(columns, 1)
        self.rows = max(rows, 1)
        self.cellWidth = min(max(cellWidth, 1), 256)
        self.cellHeight = min(max(cellHeight, 1), 256)
    }

    /// The size in pixels of a picture that fits, with its own proportions and not enlarged.
    package func pixels(for image: Image) -> ImageSizing {
        ImageSizing(
            width: min(columns * cellWidth, image.width, 65_535), height: min(rows * cellHeight, image.height, 65_535))
    }
}
