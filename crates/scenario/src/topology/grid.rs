//! Grid: links to the neighbours left, right, above and below.

use super::{Builder, Graph, InvalidParameter, MOST_LINKS, too_many_links, with_defaults};
use crate::spec::Pipe;

fairlane_units::params! {
    /// Nodes n0, n1... row by row, each joined to the next in its row and in its column. Links are called n0-n1, the lower number first.
    pub struct Grid {
        /// Number of rows.
        #[schemars(range(min = 1, max = 1_000))]
        pub rows: u32 = 3,
        /// Number of nodes per row.
        #[schemars(range(min = 2, max = 1_000))]
        pub columns: u32 = 3,
        /// Links; default 10 Mbit/s and 5 ms.
        pub link: Pipe,
    }
}

impl Builder for Grid {
    fn filled(&self) -> Self {
        Self { link: with_defaults(&self.link), ..self.clone() }
    }

    fn check(&self) -> Vec<InvalidParameter> {
        let links = self.rows as usize * (self.columns as usize - 1) + self.columns as usize * (self.rows as usize - 1);
        let few = || too_many_links("rows", &links.to_string(), "write fewer rows or columns");
        (links > MOST_LINKS).then(few).into_iter().collect()
    }

    fn graph(&self) -> Graph {
        let mut g = Graph::default();
        for i in 0..self.rows * self.columns {
            g.node(format!("n{i}"), f64::from(i % self.columns), -f64::from(i / self.columns));
        }
        for i in 0..self.rows * self.columns {
            if (i + 1) % self.columns != 0 {
                g.join(i, i + 1, &self.link);
            }
            if i + self.columns < self.rows * self.columns {
                g.join(i, i + self.columns, &self.link);
            }
        }
        g
    }

    fn hosts(&self) -> String {
        let last = (self.rows * self.columns).saturating_sub(1);
        format!("the grid with rows = {} and columns = {} has nodes n0..n{last}", self.rows, self.columns)
    }
}
