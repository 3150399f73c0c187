internal import CPlatform

/// The size of a terminal in characters.
public struct TerminalSize: Hashable, Sendable {
    /// The width in characters.
    public var columns: Int
    /// The height in lines.
    public var rows: Int
    /// The size of the text area in pixels; 0 where unknown.
    public var pixelWidth: Int
    /// The height of the text area in pixels; 0 where unknown.
    public var pixelHeight: Int

    /// Creates a size.
    public init(columns: Int, rows: Int, pixelWidth: Int = 0, pixelHeight: Int = 0) {
        self.columns = columns
        self.rows = rows
        self.pixelWidth = pixelWidth
        self.pixelHeight = pixelHeight
    }

    /// The size of a descriptor's terminal; nil if it is not a terminal, or its size is unknown.
    public init?(descriptor: Int32) {
        var (columns, rows, width, height): (UInt16, UInt16, UInt16, UInt16) = (0, 0, 0, 0)
        guard cubby_tty_size(descriptor, &columns, &rows, &width, &height) == 0, columns > 0, rows > 0 else {
            return nil
        }
        self.init(columns: Int(columns), rows: Int(rows), pixelWidth: Int(width), pixelHeight: Int(height))
    }
}
