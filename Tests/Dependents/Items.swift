import Items

struct Lamp: Codable, Sendable {
    var room: String
}

let database = try ItemDatabase(ArchivePersistence(folder: CommandLine.arguments[1]))
try await database.collection(of: Lamp.self).insert(Lamp(room: "Study"))
print(try await database.save() ? "ok" : "not saved")
