//! Declaration of parameter tables: documentation, type, bounds and default of each field in one place.

/// Declares tables of parameters, and enumerations of words that they choose from. Each field ends in its default; one without a default takes
/// that of its type.
///
/// A table is read from a scenario: absent fields take their defaults, unknown ones are errors, and its JSON Schema has the documentation. The
/// words of an enumeration are the names of its variants in snake case. A `part` is a struct whose fields are those of the table that holds it with
/// `#[serde(flatten)]`: it leaves unknown fields to that.
///
/// ```
/// fairlane_units::params! {
///     /// A leaky bucket.
///     pub struct BucketParams {
///         /// Rate at which it empties.
///         #[schemars(range(min = 0.0))]
///         pub rate: f64 = 2.5,
///         /// Length at the start.
///         pub length: u32,
///         /// Fate of what does not fit.
///         pub full: Full = Full::Wait,
///     }
///
///     /// Fate of a packet that finds the bucket full.
///     pub enum Full {
///         /// It is dropped.
///         #[default]
///         Drop,
///         /// It waits.
///         Wait,
///     }
/// }
/// assert_eq!(BucketParams::default(), BucketParams { rate: 2.5, length: 0, full: Full::Wait });
/// ```
#[macro_export]
macro_rules! params {
    () => {};
    (@default) => { Default::default() };
    (@default $value:expr) => { $value };
    (@struct [$(#[$more:meta])*] [$($generic:ident)?] [$(#[$meta:meta])*] $vis:vis $name:ident { $($(#[$about:meta])* $see:vis $field:ident: $ty:ty $(= $value:expr)?),* $(,)? }) => {
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        $(#[$more])*
        $(#[$meta])*
        $vis struct $name $(<$generic>)? { $($(#[$about])* $see $field: $ty),* }

        impl $(<$generic: Default>)? Default for $name $(<$generic>)? {
            fn default() -> Self {
                Self { $($field: $crate::params!(@default $($value)?)),* }
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        $crate::params! { @struct [#[serde(default, deny_unknown_fields)]] [] [$(#[$meta])*] $vis $name { $($fields)* } }
        $crate::params! { $($rest)* }
    };
    ($(#[$meta:meta])* $vis:vis part $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        $crate::params! { @struct [#[serde(default)]] [] [$(#[$meta])*] $vis $name { $($fields)* } }
        $crate::params! { $($rest)* }
    };
    // A table that holds tables of a kind chosen by the user of the library, such as queues.
    ($(#[$meta:meta])* $vis:vis struct $name:ident<S> { $($fields:tt)* } $($rest:tt)*) => {
        $crate::params! { @struct
            [#[serde(default, deny_unknown_fields, bound(deserialize = "S: ::serde::Deserialize<'de> + Default"))]
             #[schemars(bound = "S: ::schemars::JsonSchema + ::serde::Serialize + Default")]]
            [S] [$(#[$meta])*] $vis $name { $($fields)* }
        }
        $crate::params! { $($rest)* }
    };
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($variants:tt)* } $($rest:tt)*) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(rename_all = "snake_case")]
        $(#[$meta])*
        $vis enum $name { $($variants)* }
        $crate::params! { $($rest)* }
    };
}
