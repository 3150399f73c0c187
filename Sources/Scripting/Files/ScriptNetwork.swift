package import Application

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
