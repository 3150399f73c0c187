package import Images
package import Items
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

extension ItemStore {
    /// How the values of a field are written on an axis.
    package func plotUnit(of name: String) -> PlotUnit {
        if hasMoney(name) { return .money }
        return name == "valueInDollars" ? .dollars : .number
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
    /// - Returns: the picture, and the characters that no installed font has: there are boxes in their place.
    /// - Throws: `ImageError` with `libraryMissing` where libvips, or its part for SVG, is not installed; `fontMissing`
    ///   without any font.
    package func picture(
        width: Int = 800, height: Int = 480, scale: Double = 1, theme: Theme = .light,
        limits: ImageLimits = ImageLimits()
    ) throws(ImageError) -> (image: BitmapImage, missingCharacters: [Unicode.Scalar]) {
        let drawing = svg(width: width, height: height, theme: theme)
        let missing = try InstalledFonts.missingCharacters(in: drawing)
        return (try BitmapImage(drawing: drawing, scale: scale, limits: limits), missing)
    }
}
