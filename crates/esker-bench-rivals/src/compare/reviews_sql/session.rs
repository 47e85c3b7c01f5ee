//! Connections to a server, by its socket.

use std::path::Path;

use esker_bench::fail::{Failure, Outcome};
use mysql::prelude::Queryable;
use mysql::{Conn, Error, OptsBuilder};

/// The database of all tables.
pub const DATABASE: &str = "bench";

/// What failed, in the server's words.
pub fn told(error: Error) -> Failure {
    Failure::failed(format!("the server says: {error}").replace('\n', " "))
}

/// The number of an error of the server's; 0 of any other.
pub fn code(error: &Error) -> u16 {
    match error {
        Error::MySqlError(error) => error.code,
        _ => 0,
    }
}

/// A connection that uses no database yet.
pub fn connect_bare(socket: &Path) -> Result<Conn, Error> {
    let socket = socket.to_str().map(str::to_owned);
    let options = OptsBuilder::new().socket(socket).user(Some("root"));
    Conn::new(options)
}

/// A connection to the database.
pub fn connect(socket: &Path) -> Outcome<Conn> {
    let mut connection = connect_bare(socket).map_err(told)?;
    run(&mut connection, &format!("USE {DATABASE}"))?;
    Ok(connection)
}

/// Runs a statement whose rows nobody wants.
pub fn run(connection: &mut Conn, statement: &str) -> Outcome {
    connection.query_drop(statement).map_err(told)
}
