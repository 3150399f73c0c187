import Images
import LineEditor
import Lua
import Scripting
import Testing

@testable import REPL

@Suite("An item's pictures at the prompt") struct ItemRecordTests {
    private static let picture = "image.fromData(data.fromBase64('R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs='))"

    private func printed(_ entry: String, hasColors: Bool) throws -> PrintedValues {
        let test = try TestHost()
        var printer = ValuePrinter(test.host)
        printer.pictures = TerminalPictures(
            size: TerminalSize(columns: 80, rows: 24), hasColors: hasColors, environment: { _ in nil })
        return printer.printed(try test.evaluator.evaluate(entry).get(), seconds: 0)
    }

    @Test("are counted with the size of the first, which is drawn where there are colours")
    func pictures() throws {
        let entry = "i = items:createItem{} i.images = { \(Self.picture), \(Self.picture) } return i"
        let drawn = try printed(entry, hasColors: true)
        #expect(drawn.text.hasSuffix(" images          2 images, the first 1×1\n") && drawn.picture.contains("▀"))
        let plain = try printed(entry, hasColors: false)
        #expect(plain.text.hasSuffix("2 images, the first 1×1\n") && plain.picture.isEmpty)
        #expect(!(try printed("items:createItem{}", hasColors: true).text.contains("image")))
    }

    @Test("that cannot be decoded are said, in the place of the picture and in a table")
    func undecodable() throws {
        let test = try TestHost()
        var printer = ValuePrinter(test.host)
        printer.pictures = TerminalPictures(
            size: TerminalSize(columns: 80, rows: 24), hasColors: true, environment: { _ in nil })
        // A PNG file whose pixels are no deflated data.
        let entry = """
            local good = \(Self.picture):resized(40, 40):pngData()
            local place = good:find("IDAT", 1, true) + 4
            bad = image.fromData(good:sub(1, place - 1) .. "\\0\\0\\0" .. good:sub(place + 3))
            return bad
            """
        let shown = printer.printed(try test.evaluator.evaluate(entry).get(), seconds: 0).text
        #expect(shown.hasPrefix("(40×40 PNG") && shown.contains("cannot be decoded"), "\(shown)")
        let items = """
            for i = 1, 2 do items:createItem{ name = "Lamp" }.image = \(Self.picture) end
            fs.write(images:imagePath(items[2].itemKey), "no picture")
            images:clearCache()
            return items:query()
            """
        let table = printer.printed(try test.evaluator.evaluate(items).get(), seconds: 0).text
        #expect(table.split(separator: "\n").count { $0.hasPrefix(" ? ") } == 1, "\(table)")
    }

    @Test("negative amounts are written in one way, and long names leave columns for values")
    func narrow() throws {
        let test = try TestHost()
        let printer = ValuePrinter(test.host)
        let values = try test.evaluator.evaluate(
            "return items:createItem{ name = 'Debt', valueInDollars = -1234, [('long name '):rep(9)] = 'a b c d e f' }"
        ).get()
        #expect(printer.printed(values, seconds: 0).text.contains("-$1,234"))
        guard case .item(let item) = test.host.inspect(values[0]) else { return #expect(Bool(false)) }
        for columns in [16, 20, 30] {
            let lines = printer.record.text(item, columns: columns)?.split(separator: "\n") ?? []
            #expect(lines.allSatisfy { DisplayWidth.of($0) < columns }, "\(lines)")
        }
    }

    @Test("are drawn in the pager's view of a row, too, as far as they are characters")
    func inPager() throws {
        let test = try TestHost()
        var printer = ValuePrinter(test.host)
        printer.rows = 10
        printer.pictures = TerminalPictures(
            size: TerminalSize(columns: 80, rows: 24), hasColors: true, environment: { _ in nil })
        let entry = "for i = 1, 20 do items:createItem{}.image = \(Self.picture) end return items:query()"
        let values = try test.evaluator.evaluate(entry).get()
        #expect(printer.printed(values, seconds: 0).table?.rows.record(0, columns: 80)?.contains("▀") ?? false)
        printer.pictures?.capabilities.take(TerminalReport(.string(introducer: 0x5F, bytes: Array("Gi=31;OK".utf8))))
        let kitty = try #require(printer.printed(values, seconds: 0).table?.rows.record(0, columns: 80))
        #expect(kitty.hasSuffix("1 image, 1×1"))
    }
}
