//! What a node prints once it serves: where it is, and a line to paste for each kind of client.

use esker_server::shell::Place;
use serde_json::{Value, json};

/// The lines for people; who has tables needs not be told how to create one.
pub fn words(place: &Place, dir: &str, has_tables: bool) -> String {
    let Place { meta, client, .. } = place;
    let way = match has_tables {
        true => "From".to_owned(),
        false => format!(
            "There is no table until you create one:\n\n  \
             esker table create temp --partitions 8 --replicas 1 --meta {meta}\n\n\
             Then, from"
        ),
    };
    format!(
        "\
Esker serves: node {} of cluster {:016x}, in {dir}

  meta servers     {meta}     give clients this one; they find the rest
  data server      {client}

{way} a shell, Python, Java, Go or Node.js:

  esker kv --table temp --meta {meta} set ship:dora state 'in port'
  Pegasus(['{meta}'], 'temp')                                           # pypegasus3
  PegasusClientFactory.createClient(ClientOptions.builder().metaServers(\"{meta}\").build());
  pegasus.NewClient(config.Config{{MetaServers: []string{{\"{meta}\"}}}})
  require('pegasus-nodejs-client').create({{metaServers: ['{meta}']}})

Only programs on this machine can connect. Ctrl-C stops it; a second one at once.",
        place.node, place.cluster
    )
}

/// The same for programs, on one line.
pub fn json(place: &Place, dir: &str) -> Value {
    json!({
        "meta": place.meta.to_string(),
        "data": place.client.to_string(),
        "peer": place.peer.to_string(),
        "cluster": format!("{:016x}", place.cluster),
        "node": place.node,
        "incarnation": place.incarnation,
        "dir": dir,
    })
}

#[cfg(test)]
mod tests;
