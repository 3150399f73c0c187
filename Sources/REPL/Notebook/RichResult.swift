import Application
import Images
import Items
import KeyedArchive
import Lua
import Plots
import PropertyList
import Scripting

/// A result as a notebook shows it: its text as at the prompt, and beside it the form that fits it, by types of media.
struct RichResult {
    /// The longer side of a picture, in pixels.
    private static let pictureSide = 1200
    private static let cardSide = 320

    private let host: ScriptHost
    private let printer: ValuePrinter
    /// Whether all of a value is asked for: `full(x)`.
    private let isWhole: Bool

    init(_ host: ScriptHost, _ printer: ValuePrinter, isWhole: Bool = false) {
        (self.host, self.printer, self.isWhole) = (host, printer, isWhole)
    }

    /// The forms of an entry's values.
    ///
    /// - Parameters:
    ///   - values: the values; none for a table that was asked for whole.
    ///   - printed: their text, and the rows of a table.
    /// - Returns: the text of each form by its type.
    func data(of values: [LuaValue], _ printed: PrintedValues) -> PropertyListFields {
        let text = printed.text.last == "\n" ? String(printed.text.dropLast()) : printed.text
        var data: PropertyListFields = ["text/plain": .string(text)]
        if let rows = printed.rows {
            data["text/html"] = .string(NotebookTable(rows, printer, isWhole: isWhole).html)
        } else if values.count == 1, let value = values.first {
            switch host.inspect(value) {
            case .item(let item): data["text/html"] = card(item).map(PropertyListValue.string)
            case .image(let image): add(image, to: &data)
            case .plot(let plot): data["image/svg+xml"] = .string(plot.svg(width: 700, height: 400, theme: .light))
            default: data["text/html"] = archive(value).map(PropertyListValue.string)
            }
        }
        return data
    }

    /// A picture that a script shows.
    func data(of image: BitmapImage) -> PropertyListFields {
        var data: PropertyListFields = ["text/plain": .string("(\(image.description))")]
        add(image, to: &data)
        return data
    }

    private func add(_ image: BitmapImage, to data: inout PropertyListFields) {
        do throws(ImageError) {
            let (type, bytes) = try Self.encoded(image, side: Self.pictureSide)
            data[type] = .string(Base64.text(bytes))
        } catch {
            let text = data["text/plain"]?.text ?? ""
            data["text/plain"] = .string("\(text)\n(not drawn: \(VisibleText.line(error.message)))")
        }
    }

    /// A picture's file with its type: JPEG if it is one, else PNG; no larger than is seen.
    private static func encoded(_ image: BitmapImage, side: Int) throws(ImageError) -> (type: String, bytes: [UInt8]) {
        let isLarge = max(image.width, image.height) > side
        let sizing = isLarge ? ImageSizing(width: side, height: side) : nil
        guard image.format == .jpeg else { return ("image/png", try image.pngData(sizing: sizing)) }
        if !isLarge, let bytes = image.bareJPEG { return ("image/jpeg", bytes) }
        return ("image/jpeg", try image.jpegData(quality: 0.85, sizing: sizing))
    }

    /// A picture within a page.
    static func element(_ image: BitmapImage?, side: Int) -> String {
        guard let image else { return "" }
        do throws(ImageError) {
            let (type, bytes) = try encoded(image, side: side)
            return "<img alt=\"\" src=\"data:\(type);base64,\(Base64.text(bytes))\"/>"
        } catch {
            return "<em title=\"\(HTMLText.escaped(VisibleText.line(error.message)))\">not drawn</em>"
        }
    }

    /// An item with its picture and its fields; nil for one that was removed.
    private func card(_ item: Item) -> String? {
        let record = printer.record
        guard let fields = record.fields(item) else { return nil }
        let left = "style=\"text-align:left\""
        let rows = fields.map { name, value in
            let text = HTMLText.escaped(value).replacing("\n", with: "<br/>")
            return "<tr><th \(left)>\(HTMLText.escaped(name))</th><td \(left)>\(text)</td></tr>"
        }
        let picture = (try? item.itemKey).flatMap(record.image)
        return "<div>\(Self.element(picture, side: Self.cardSide))<table>\(rows.joined())</table></div>"
    }

    /// An opened archive as a tree that folds; nil for any other value.
    private func archive(_ value: LuaValue) -> String? {
        guard case .userdata(let userdata) = value, userdata.className == "Graph",
            // The host's own method, which no script can replace.
            case .function(let bytes)? = try? host.state.field("bytes", of: value),
            case .string(let archive)? = (try? bytes.call(value))?.first,
            let tree = try? ArchiveTree(PropertyListStorage(archive.bytes))
        else { return nil }
        return NotebookTree(tree).html
    }
}

/// A table of a notebook: its first rows, then further pages that unfold.
struct NotebookTable {
    private static let pageRows = 40
    private static let pages = 5
    /// The pages of a table that is asked for whole.
    private static let wholePages = 250
    private static let columns = 40
    /// The rows with pictures.
    private static let pictures = 100
    private static let pictureSide = 40
    private static let textLimit = 200

    private let rows: any TableRows
    private let names: [String]
    private let hiddenColumns: Int
    private let shown: Int
    private let isWhole: Bool

    init(_ rows: any TableRows, _ printer: ValuePrinter, isWhole: Bool) {
        (self.rows, self.isWhole) = (rows, isWhole)
        shown = min(rows.count, Self.pageRows * (isWhole ? Self.wholePages : Self.pages))
        let layout = TableLayout(rows, in: 0..<min(rows.count, Self.pageRows), chosen: printer.chosenFields)
        names = Array(layout.names.prefix(Self.columns))
        hiddenColumns = layout.names.count - names.count + layout.unchosenCount
    }

    var html: String {
        var (html, done) = ("", 0)
        while done < shown, !Interruption.isDue {
            let page = done..<min(done + Self.pageRows, shown)
            let title = "rows \((page.lowerBound + 1).grouped)–\(page.upperBound.grouped)"
            html += done == 0 ? table(page) : "<details><summary>\(title)</summary>\(table(page))</details>"
            done = page.upperBound
        }
        return html + "<p>\(HTMLText.escaped(summary(done)))</p>"
    }

    /// The number of rows, and what is not shown of them.
    private func summary(_ done: Int) -> String {
        var text = rows.count.counted("row")
        if done < rows.count {
            let advice = isWhole ? "export or a smaller query has them" : "full(_) shows more of them"
            text += " · \((rows.count - done).grouped) not shown: \(advice)"
        }
        if hiddenColumns > 0 {
            text += " · \(hiddenColumns.counted("column")) not shown: :columns chooses, and a row by itself has all"
        }
        if done > Self.pictures, rows.picture(0, size: Self.pictureSide) != nil {
            text += " · pictures of the first \(Self.pictures)"
        }
        return text
    }

    private func table(_ page: Range<Int>) -> String {
        let pictures = page.map { row in
            RichResult.element(
                row < Self.pictures ? rows.picture(row, size: Self.pictureSide) : nil, side: Self.pictureSide)
        }
        let hasPictures = pictures.contains { !$0.isEmpty }
        let titles = names.map { name in
            let isNumber = rows.cell(page.lowerBound, name)?.isNumber ?? false
            return "<th\(Self.alignment(isNumber))>\(HTMLText.escaped(TextTable.cut(name, to: Self.textLimit)))</th>"
        }
        var html = "<table><thead><tr><th>#</th>\(hasPictures ? "<th></th>" : "")\(titles.joined())</tr></thead><tbody>"
        for (row, picture) in zip(page, pictures) {
            let cells = rows.isRemoved(row) ? ["<td>(removed)</td>"] : names.map { cell(row, $0) }
            html += "<tr><th>\((row + 1).grouped)</th>\(hasPictures ? "<td>\(picture)</td>" : "")\(cells.joined())</tr>"
        }
        return html + "</tbody></table>"
    }

    private func cell(_ row: Int, _ name: String) -> String {
        guard let cell = rows.cell(row, name) else { return "<td></td>" }
        let text = cell.isNumber ? cell.text : TextTable.cut(cell.text, to: Self.textLimit)
        return "<td\(Self.alignment(cell.isNumber))>\(HTMLText.escaped(text))</td>"
    }

    private static func alignment(_ isNumber: Bool) -> String { " style=\"text-align:\(isNumber ? "right" : "left")\"" }
}

/// An archive in a notebook: a tree whose branches fold.
struct NotebookTree {
    private static let lineLimit = 3000
    /// The levels that are unfolded at first.
    private static let openLevels = 2

    private let tree: ArchiveTree

    init(_ tree: ArchiveTree) { self.tree = tree }

    private struct Enough: Error {}

    var html: String {
        var lines: [(level: Int, html: String)] = []
        var isCut = false
        var drawing = TreeDrawing(tree, leafText: LeafText(limit: 200))
        do {
            try drawing.draw { line in
                guard lines.count < Self.lineLimit, !Interruption.isDue else { throw Enough() }
                lines.append(Self.line(line))
            }
        } catch { isCut = true }
        return Self.folded(lines)
            + (isCut ? "<p>… and more: :inspect shows a part by its path, such as root[0]</p>" : "")
    }

    private static let tags: [TreeDrawing.Role: String] = [
        .label: "b", .className: "i", .error: "mark", .detail: "small", .reference: "small",
    ]

    /// A line with its level, which the drawing's guides tell: three signs for each.
    private static func line(_ line: TreeDrawing.Line) -> (level: Int, html: String) {
        var (level, html) = (0, "")
        for (place, piece) in line.enumerated() {
            if place == 0, piece.role == .guide, piece.text.hasSuffix("─ ") {
                level = piece.text.count / 3
                continue
            }
            let text = HTMLText.escaped(VisibleText.line(piece.text))
            html += tags[piece.role].map { "<\($0)>\(text)</\($0)>" } ?? text
        }
        return (level, html)
    }

    private static func folded(_ lines: [(level: Int, html: String)]) -> String {
        var html = ""
        var open: [Int] = []
        for (place, line) in lines.enumerated() {
            while let last = open.last, last >= line.level {
                html += "</div></details>"
                open.removeLast()
            }
            guard place + 1 < lines.count, lines[place + 1].level > line.level else {
                html += "<div>\(line.html)</div>"
                continue
            }
            html += "<details\(line.level < openLevels ? " open" : "")><summary>\(line.html)</summary>"
            html += "<div style=\"margin-left:1.5em\">"
            open.append(line.level)
        }
        return html + String(repeating: "</div></details>", count: open.count)
    }
}
