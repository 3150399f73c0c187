import CImaging

/// The fonts that drawings have for their texts. A drawing without them has empty places where its texts would be.
package enum InstalledFonts {
    /// The characters of a text that no installed font has, each once. None where it is not known: without fontconfig, which
    /// the part of libvips that draws needs itself.
    ///
    /// - Parameter text: in any script.
    /// - Returns: the characters, in the order of their code points.
    /// - Throws: `ImageError` with `fontMissing` where no font is installed.
    package static func missingCharacters(in text: String) throws(ImageError) -> [Unicode.Scalar] {
        let shown = Set(text.unicodeScalars).filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: false
            default: !scalar.properties.isDefaultIgnorableCodePoint
            }
        }
        var characters = shown.map(\.value).sorted()
        var count = characters.count
        switch cimaging_find_characters(&characters, &count) {
        case CIMAGING_FONTS: return characters.prefix(count).compactMap { Unicode.Scalar($0) }
        case CIMAGING_NO_FONT:
            throw ImageError(
                .fontMissing,
                "no font is installed, and the picture would have no text (on Debian: apt-get install fonts-dejavu-core)"
            )
        default: return []
        }
    }
}
