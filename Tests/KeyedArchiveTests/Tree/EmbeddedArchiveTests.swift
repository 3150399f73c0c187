import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// Archives and property lists in the data of others.
@Suite("Embedded archives")
struct EmbeddedArchiveTests {
    private static func archive(_ value: ArchiveValue) throws -> [UInt8] { try ArchiveGraph(root: value).encoded() }

    private static func tree(_ bytes: [UInt8]) throws -> ArchiveTree { try ArchiveTree(PropertyListStorage(bytes)) }

    private static func json(_ tree: ArchiveTree, keepsData: Bool = false) throws -> (
        text: String, damage: ArchiveError?
    ) {
        var writer = TreeJSON(tree, layout: .compact, keepsData: keepsData)
        var json: [UInt8] = []
        try writer.write { json += $0 }
        return (String(decoding: json.dropLast(), as: UTF8.self), writer.damage)
    }

    @Test("are written in place of the data, and beside it where that is kept")
    func inPlace() throws {
        let inner = try Self.archive(.string("Bear"))
        let tree = try Self.tree(Self.archive(.data(inner)))
        #expect(try Self.json(tree).text == #"{"root":{"$count":\#(inner.count),"$embedded":{"root":"Bear"}}}"#)
        #expect(try Self.json(tree, keepsData: true).text.contains(#""$embedded":{"root":"Bear"}"#))
        #expect(try Self.json(tree, keepsData: true).text.contains(#""$data":"YnBsaXN0"#))
    }

    @Test("in binary and in XML, in NSData and NSMutableData, in plain property lists")
    func kinds() throws {
        let value = PropertyListValue.array([.string("x"), .integer(5)])
        let (binary, xml) = (try value.encoded(as: .binary), try value.encoded(as: .xml))
        let list = PropertyListValue.dictionary(["a": .data(binary), "b": .data(xml)])
        let plain = try Self.json(Self.tree(list.encoded(as: .xml))).text
        #expect(plain.split(separator: #""$embedded":["x",5]"#).count == 3, "\(plain)")
        let mutable = ArchiveValue.mutableData(ArchivedMutableData(binary))
        let tree = try Self.tree(Self.archive(.collection(ArchivedCollection(elements: [mutable, .data(xml)]))))
        let archived = try Self.json(tree).text
        #expect(archived.split(separator: #""$embedded":["x",5]"#).count == 3, "\(archived)")
        for path in ["root[0].$embedded[1]", "root[1].$embedded[1]", "[0].$embedded.1"] {
            let place = try tree.place(at: TreePath(path))
            guard case .leaf(.integer(5)) = place.tree.value(place.node).content else {
                Issue.record("\(path)")
                continue
            }
        }
        #expect(try TreePathTests.check(tree, "kinds") == 9)
    }

    @Test("count with their classes, and are searched")
    func classesAndSearch() throws {
        let object = ArchivedObject(
            ArchivedClass("Bear"), fields: [.init(key: "name", value: .object(.string("Fluffy")))])
        let inner = try Self.archive(.unknown(object))
        let middle = try Self.archive(.collection(ArchivedCollection(elements: [.data(inner)])))
        let tree = try Self.tree(Self.archive(.data(middle)))
        #expect(tree.classCounts == ["Bear": 1, "NSArray": 1])
        var search = TreeSearch("fluff")
        var paths: [String] = []
        try search.run(in: tree) { paths.append($0.path.description) }
        #expect(paths == ["root.$embedded.root[0].$embedded.root.name"])
    }

    @Test("are opened once each, and eight deep; where one occurs again is its path")
    func limits() throws {
        var bytes = try Self.archive(.string("end"))
        for _ in 0..<12 {
            let data = ArchiveValue.data(bytes)
            bytes = try Self.archive(.collection(ArchivedCollection(elements: [data, data, data])))
        }
        let tree = try Self.tree(bytes)
        let (text, damage) = try Self.json(tree)
        #expect(text.split(separator: #""$embedded":{"root":"#).count == 9)
        #expect(text.split(separator: #""$embedded":{"$ref":"root[0].$embedded"#).count == 17)
        #expect(text.utf8.count < 20 * bytes.count)
        #expect(damage?.message.contains("more than 8 archives") == true)
        let path = "root[0].$embedded.root[0].$embedded"
        #expect(text.contains(#"{"$ref":"\#(path)"}"#))
        #expect(try tree.embedded(at: TreePath(path)) != nil)
    }

    @Test("that are damaged stay data, and say why")
    func damaged() throws {
        let inner = try Self.archive(.string("Bear")).dropLast(3)
        let (text, damage) = try Self.json(Self.tree(Self.archive(.data(Array(inner)))))
        #expect(text.contains("\"$data\":") && text.contains("\"$error\":"))
        #expect(damage != nil)
        let junk = try Self.json(Self.tree(Self.archive(.data(Array("<html>".utf8)))))
        #expect(junk.text == #"{"root":{"$data": "PGh0bWw+"}}"#)
        #expect(junk.damage == nil)
    }

    @Test("a property list is recognised by its beginning")
    func beginnings() {
        let yes = [
            "bplist00", "bplist15", "<plist version", "<?xml version=\"1.0\"?>\n<!-- a -->\n<!DOCTYPE plist PUBLIC",
            "<?xml",
            "\u{FEFF} <!DOCTYPE plist", "<?xml version=\"1.0\"?><plist/>",
        ]
        let no = [
            "", "bplis", "<", "<html>", "<?xml version=\"1.0\"?><svg>", "<!DOCTYPE html>", "{}", "{ a = 1; }", "plist",
        ]
        for text in yes {
            #expect(Array(text.utf8).withUnsafeBytes { PropertyListFormat.isBeginning(of: $0) }, "\(text)")
        }
        for text in no {
            #expect(!Array(text.utf8).withUnsafeBytes { PropertyListFormat.isBeginning(of: $0) }, "\(text)")
        }
        let wide = "<?xml version=\"1.0\"?><plist>".utf8.flatMap { [$0, 0] as [UInt8] }
        #expect(([0xFF, 0xFE] + wide).withUnsafeBytes { PropertyListFormat.isBeginning(of: $0) })
    }
}
