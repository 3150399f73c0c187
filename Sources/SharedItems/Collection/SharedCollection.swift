/// What the server has of a collection, as of the moment that a host introduced itself.
struct SharedCollection {
    /// Its number in the tables.
    let number: Int32
    let head: UInt64
    /// The log has every revision after this one.
    let floor: UInt64
    /// Identifies its history.
    let epoch: [UInt8]

    /// Introduces a host, and finds the collection.
    init(
        _ connection: PostgresConnection, _ name: String, host: [UInt8], hostName: String
    ) throws(PostgresError) {
        let rows = try connection.run(
            "select id, head, floor, epoch from cubby.hello($1, $2, $3)", [.text(name), .uuid(host), .text(hostName)])
        number = Int32(clamping: try rows.number(0, 0))
        head = try rows.revision(0, 1)
        floor = try rows.revision(0, 2)
        guard let epoch = try rows.bytes(0, 3), epoch.count == 16 else { throw PostgresResult.badAnswer("no epoch") }
        self.epoch = epoch
    }

    /// The channel on which commits are told of.
    var channel: String {
        let digits = Array("0123456789abcdef")
        return "cubby_" + String(epoch.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
