import CSV
import Foundation

let (input, output): (Int32, FileHandle) = (0, .standardOutput)

/// Adds what each lamp takes in a year, and gives the rows that it leaves out.
func addYears(to input: Int32, writing output: FileHandle) throws -> [String] {
    let reader = try CSVReader(fileDescriptor: input)
    guard let header = try reader.header(),
        let watts = (0..<header.count).first(where: { header.string($0) == "watts" })
    else { return ["there is no column watts"] }
    var writer = try CSVWriter(delimiter: UInt8(ascii: ";"), lineEnd: .lf)
    for cell in 0..<header.count { writer.append(header[cell]) }
    writer.append("kWh a year")
    writer.endRow()

    var row = CSVRow()
    var leftOut: [String] = []
    while try reader.next(into: &row) {
        guard row.count == header.count, let number = row.string(watts).flatMap(Double.init) else {
            leftOut.append("line \(reader.startLine): \(row.count) cells, and no number of watts")
            continue
        }
        for cell in 0..<row.count { writer.append(row[cell]) }
        writer.append("\(number * 1.095)")
        writer.endRow()
        if writer.bytes.count > 1 << 16 { try output.write(contentsOf: writer.take()) }
    }
    try output.write(contentsOf: writer.take())
    return leftOut
}

for line in try addYears(to: input, writing: output) { print(line) }

do {
    let reader = try CSVReader(bytes: Array("room,lamp\nStudy,\"Desk\nHall,Wall\n".utf8))
    var row = CSVRow()
    while try reader.next(into: &row) { print(row.count, "cells") }
} catch {
    print(error)
    print(error.code, error.row, error.line)
}
