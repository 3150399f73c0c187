import TestSupport

/// ZIP files with stored members, and spreadsheets in them, made by the tests' own hands.
enum TinySpreadsheet {
    static func zip(_ members: [(name: String, content: [UInt8])]) -> [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for (name, content) in members {
            let offset = bytes.count
            // Version, flags, method and time; sum and sizes; the lengths of the name and of what is behind it.
            var common: [UInt8] = [20, 0, 0, 0, 0, 0, 0, 0, 0, 0]
            add(Int(crc(content)), 4, to: &common)
            add(content.count, 4, to: &common)
            add(content.count, 4, to: &common)
            add(name.utf8.count, 4, to: &common)
            directory += [0x50, 0x4B, 1, 2, 20, 0]
            directory += common
            add(0, 10, to: &directory)
            add(offset, 4, to: &directory)
            directory += Array(name.utf8)
            bytes += [0x50, 0x4B, 3, 4]
            bytes += common
            bytes += Array(name.utf8)
            bytes += content
        }
        let start = bytes.count
        bytes += directory
        bytes += [0x50, 0x4B, 5, 6, 0, 0, 0, 0]
        add(members.count, 2, to: &bytes)
        add(members.count, 2, to: &bytes)
        add(directory.count, 4, to: &bytes)
        add(start, 4, to: &bytes)
        add(0, 2, to: &bytes)
        return bytes
    }

    private static func add(_ value: Int, _ count: Int, to bytes: inout [UInt8]) {
        for place in 0..<count { bytes.append(place < 8 ? UInt8(truncatingIfNeeded: value >> (8 * place)) : 0) }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var sum = ~UInt32(0)
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }

    /// An `.xlsx` file with one sheet: what is within `sheetData`, within `sst`, and behind `sheetData`; the codes of
    /// formats: the first style is general, the second has the first code.
    static func xlsx(
        _ rows: String, texts: String = "", formats: [String] = [], from1904: Bool = false, after: String = ""
    ) -> [UInt8] {
        let main = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\""
        let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        let package = "xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\""
        func relation(_ id: String, _ kind: String, _ target: String) -> String {
            "<Relationship Id=\"\(id)\" Type=\"\(office)/\(kind)\" Target=\"\(target)\"/>"
        }
        var codes = ""
        var styles = "<xf numFmtId=\"0\"/>"
        for (number, code) in formats.enumerated() {
            codes += "<numFmt numFmtId=\"\(200 + number)\" formatCode=\"\(code)\"/>"
            styles += "<xf numFmtId=\"\(200 + number)\"/>"
        }
        var members: [(name: String, content: [UInt8])] = []
        func add(_ name: String, _ content: String) { members.append((name, Array(content.utf8))) }
        let document = relation("r1", "officeDocument", "xl/workbook.xml")
        add("_rels/.rels", "<Relationships \(package)>\(document)</Relationships>")
        let sheets = "<sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets>"
        let properties = "<workbookPr date1904=\"\(from1904 ? 1 : 0)\"/>"
        add("xl/workbook.xml", "<workbook \(main) xmlns:r=\"\(office)\">\(properties)\(sheets)</workbook>")
        var parts = relation("r1", "worksheet", "worksheets/sheet1.xml")
        parts += relation("r2", "sharedStrings", "/xl/sharedStrings.xml")
        parts += relation("r3", "styles", "styles.xml")
        add("xl/_rels/workbook.xml.rels", "<Relationships \(package)>\(parts)</Relationships>")
        add(
            "xl/styles.xml",
            "<styleSheet \(main)><numFmts>\(codes)</numFmts><cellXfs>\(styles)</cellXfs></styleSheet>")
        add("xl/sharedStrings.xml", "<sst \(main)>\(texts)</sst>")
        add("xl/worksheets/sheet1.xml", "<worksheet \(main)><sheetData>\(rows)</sheetData>\(after)</worksheet>")
        return zip(members)
    }

    /// An `.ods` file with what is within `office:spreadsheet`.
    static func ods(_ tables: String) -> [UInt8] {
        let names = ["office", "table", "text", "style"].map {
            "xmlns:\($0)=\"urn:oasis:names:tc:opendocument:xmlns:\($0):1.0\""
        }.joined(separator: " ")
        let content =
            "<office:document-content \(names)><office:body><office:spreadsheet>\(tables)</office:spreadsheet></office:body></office:document-content>"
        return zip([
            ("mimetype", Array("application/vnd.oasis.opendocument.spreadsheet".utf8)),
            ("content.xml", Array(content.utf8)),
        ])
    }
}
