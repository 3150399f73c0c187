import Files
import Foundation
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Piece writer")
struct PieceWriterTests {
    private let folder: TemporaryDirectory
    private let layer = FaultyFileLayer()
    private let file: OpenFile

    init() throws {
        folder = try TemporaryDirectory()
        file = try layer.open("\(folder.path)/file", .createNew, permissions: 0o600)
    }

    private static func piece(_ number: Int) -> [UInt8] { Array(repeating: UInt8(number), count: 1000 + number) }

    private var written: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/file"))) }
    }

    @Test("pieces are written in their order, with the checksum of them all", arguments: [0, 1, 2, 100])
    func inOrder(count: Int) throws {
        defer { layer.close(file) }
        let writer = PieceWriter(file, layer)
        for number in 0..<count {
            let memory = try writer.write(Self.piece(number))
            #expect(memory.isEmpty)
        }
        writer.end()
        let all = (0..<count).flatMap(Self.piece)
        #expect(try writer.result() == Checksum.hash(all))
        #expect(try written == all)
    }

    @Test("the memory of a piece that is written comes back for another")
    func memoryComesBack() throws {
        defer { layer.close(file) }
        let writer = PieceWriter(file, layer)
        var largest = 0
        for number in 0..<50 {
            let memory = try writer.write(Array(repeating: UInt8(number), count: 1 << 16))
            largest = max(largest, memory.capacity)
        }
        writer.end()
        #expect(largest >= 1 << 16)
        #expect(try writer.result() != 0)
    }

    @Test("what fails is told by a later piece or at the end, and nothing is written behind it", arguments: [1, 2, 5])
    func failure(call: Int) throws {
        layer.arm(failAt: call)
        let writer = PieceWriter(file, layer)
        for number in 0..<5 {
            do throws(FileError) { _ = try writer.write(Self.piece(number)) } catch { break }
        }
        writer.end()
        #expect(throws: FileError.self) { try writer.result() }
        #expect(throws: FileError.self) { try writer.write(Self.piece(9)) }
        layer.disarm()
        // The layer writes half of what it fails.
        let kept = (0..<call - 1).flatMap(Self.piece) + Self.piece(call - 1).prefix((999 + call) / 2)
        #expect(try written == kept)
        layer.close(file)
        #expect(!layer.wasClosedWhileWriting)
    }

    @Test("ended before anything came, and twice")
    func ended() throws {
        defer { layer.close(file) }
        let writer = PieceWriter(file, layer)
        writer.end()
        writer.end()
        #expect(try writer.result() == Checksum.hash([]))
    }
}
