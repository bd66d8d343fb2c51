//! Star: clients and one server around a router.

use super::{Builder, Graph, plain, row_position};
use crate::spec::{Pipe, QueueTable};
use fairlane_units::{Dur, Rate};

fairlane_units::params! {
    /// Hosts c0, c1... and `server` on the router r. Client links are named like their host and lead to the router; the link `server` leads from the router to the server.
    pub struct Star {
        /// Number of clients.
        #[schemars(range(min = 1, max = 100_000))]
        pub clients: u32 = 1,
        /// Links of the clients; default 10 Mbit/s and 3 ms.
        pub access: Pipe,
        /// Link of the server; default 50 Mbit/s and 10 ms.
        pub server: Pipe,
        /// Queue of every link direction without one of its own.
        pub queue: Option<QueueTable> = None,
    }
}

impl Builder for Star {
    fn filled(&self) -> Self {
        let fill = |p: &Pipe, rate, ms| {
            let mut pipe = p.over(&plain(Rate::from_mbps(rate), Dur::from_ms(ms)));
            pipe.forward.queue = QueueTable::over(p.forward.queue.as_ref(), self.queue.as_ref());
            pipe.filled()
        };
        let queue = self.queue.as_ref().map(|q| QueueTable::from(&q.spec()));
        Self { access: fill(&self.access, 10, 3), server: fill(&self.server, 50, 10), queue, clients: self.clients }
    }

    fn graph(&self) -> Graph {
        let mut g = Graph::default();
        g.node("r", 0.0, 0.0);
        g.node("server", 1.5, 0.0);
        g.link("server", "r", "server", &self.server);
        for i in 0..self.clients {
            let c = format!("c{i}");
            g.node(&c, -1.5, -row_position(i, self.clients));
            g.link(&c, &c, "r", &self.access);
        }
        g
    }

    fn hosts(&self) -> String {
        format!("the star with clients = {} has hosts c0..c{} and server", self.clients, self.clients.saturating_sub(1))
    }
}
