package import Images
import Lua
package import Plots

extension Plot: LuaInstance {
    package static var luaName: String { "Plot" }
}

extension ScriptHost {
    /// A plot as `print` writes it: as wide as the prompt's screen, or 80 columns.
    package func drawing(of plot: Plot) -> String {
        plot.lines(width: activePrompt?.screenColumns ?? 80).joined(separator: "\n")
    }
}

extension Plot {
    /// The plot as a picture, drawn by libvips.
    ///
    /// - Parameters:
    ///   - width: of the drawing, in pixels before scaling.
    ///   - height: the same.
    ///   - scale: the pixels of the picture by those of the drawing.
    ///   - theme: the colours.
    ///   - limits: the limits of the picture.
    /// - Returns: the picture.
    /// - Throws: `ImageError` with `libraryMissing` where libvips, or its part for SVG, is not installed.
    package func picture(
        width: Int = 800, height: Int = 480, scale: Double = 1, theme: Theme = .light,
        limits: ImageLimits = ImageLimits()
    ) throws(ImageError) -> BitmapImage {
        try BitmapImage(drawing: svg(width: width, height: height, theme: theme), scale: scale, limits: limits)
    }
}
