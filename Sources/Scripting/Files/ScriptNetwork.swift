package import Application
package import Lua

/// Connections within the fence, for functions of scripts.
extension ScriptHost {
    /// The fence that checks each connection of a script.
    package var network: NetworkFence { sandbox.network }

    /// Checks that a target is granted, and requests the user's consent at the prompt otherwise.
    ///
    /// - Throws: `NetworkDenial` that names the missing grant.
    package func checkConnection(to endpoint: NetworkEndpoint) throws(NetworkDenial) {
        // With the kernel's fence in force, consent would have no effect.
        if !network.permits(endpoint), options.isInteractive, fences.kernelABI == nil,
            activeFrontEnd?.consent(toConnect: endpoint) == true
        {
            network.grant(NetworkGrant(endpoint))
        }
        try network.check(endpoint)
    }
}

/// A function that answers HTTP requests in place of their servers, for tests of scripts.
///
/// - Parameter request: a table with `method`, `url`, `headers` (by names in small letters) and `body` (a string or nil).
/// - Returns: a table with `status` (default: 200), `headers`, and `body` (a string, or a table that becomes JSON); or nil
///   and the text of a failure.
package typealias HTTPReplacement = (_ request: LuaTable) throws -> [LuaValue]
