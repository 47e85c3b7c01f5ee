//! Administration: tables, nodes and settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::{Duration, Instant, sleep_until};

use crate::client::failure::{ClientError, Result};
use crate::client::metas::{MetaResponse, Metas};
use crate::client::settings::CallSettings;
use crate::client::table::Client;
use crate::error::ErrorName;
use crate::message::call::Call;
use crate::message::meta::{
    ControlMeta, ControlMetaRequest, CreateTable, CreateTableOptions, CreateTableRequest,
    DescribeCluster, DescribeClusterRequest, DropTable, DropTableOptions, DropTableRequest,
    EnvOperation, ListNodes, ListNodesRequest, ListTables, ListTablesRequest, MetaLevel,
    NodeDescription, NodeStatus, PartitionConfiguration, QueryConfig, QueryConfigRequest,
    QueryConfigResponse, RecallTable, RecallTableRequest, RenameTable, RenameTableRequest,
    TableDescription, TableStatus, UpdateTableEnv, UpdateTableEnvRequest,
};

/// Between two looks at whether a new table is ready.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What a new table is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTable {
    /// Its name.
    pub name: String,
    /// Partitions: a power of two, and at least 2, or some clients refuse it.
    pub partition_count: i32,
    /// Replicas of each.
    pub replica_count: i32,
    /// Settings.
    pub envs: BTreeMap<String, String>,
    /// Take a table that is there already, if it is just like this one.
    pub success_if_exist: bool,
}

/// The administration of a cluster.
#[derive(Clone, Debug)]
pub struct Admin {
    metas: Arc<Metas>,
    timeout: Duration,
}

impl Client {
    /// The administration of the cluster. Each of its calls may take `timeout`.
    pub fn admin(&self, timeout: Duration) -> Admin {
        Admin {
            metas: Arc::clone(&self.metas),
            timeout,
        }
    }
}

impl Admin {
    pub(crate) async fn ask<C: Call>(&self, request: &C::Request) -> Result<C::Response>
    where
        C::Response: MetaResponse,
    {
        self.ask_until::<C>(request, self.deadline()).await
    }

    fn deadline(&self) -> Instant {
        let call = CallSettings {
            timeout: self.timeout,
            resends_writes: false,
        };
        call.deadline()
    }

    async fn ask_until<C: Call>(
        &self,
        request: &C::Request,
        deadline: Instant,
    ) -> Result<C::Response>
    where
        C::Response: MetaResponse,
    {
        let answer = self.metas.ask::<C>(request, deadline).await?;
        match answer.err() {
            name if name.is_ok() => Ok(answer),
            name => Err(match answer.hint() {
                "" => ClientError::Refused(name.clone()),
                hint => ClientError::Explained(name.clone(), hint.to_owned()),
            }),
        }
    }

    /// Creates a table and waits until every partition has a leader. Returns its number.
    pub async fn create_table(&self, table: &NewTable) -> Result<i32> {
        let request = CreateTableRequest {
            app_name: table.name.clone(),
            options: CreateTableOptions {
                partition_count: table.partition_count,
                replica_count: table.replica_count,
                success_if_exist: table.success_if_exist,
                app_type: "pegasus".to_owned(),
                is_stateful: true,
                envs: table.envs.clone(),
                atomic_idempotent: None,
            },
        };
        let deadline = self.deadline();
        self.ask_until::<CreateTable>(&request, deadline).await?;
        // One that cannot be made where it was placed gets another number: the last one counts.
        loop {
            if let Some(number) = self.ready(&table.name, deadline).await? {
                return Ok(number);
            }
            if Instant::now() + LOOK_AGAIN > deadline {
                return Err(ClientError::Unreachable);
            }
            sleep_until(Instant::now() + LOOK_AGAIN).await;
        }
    }

    /// The number of a table of which every partition has a leader.
    async fn ready(&self, name: &str, deadline: Instant) -> Result<Option<i32>> {
        match self.placed_until(name, deadline).await {
            Ok(told) => {
                let is_led = told.partitions.iter().all(|one| one.primary.0.is_some());
                Ok(is_led.then_some(told.app_id))
            }
            Err(ClientError::Refused(name)) if is_in_the_making(&name) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Who has the partitions of a table.
    pub async fn partitions(&self, table: &str) -> Result<Vec<PartitionConfiguration>> {
        let told = self.placed_until(table, self.deadline()).await?;
        Ok(told.partitions)
    }

    async fn placed_until(&self, table: &str, deadline: Instant) -> Result<QueryConfigResponse> {
        let request = QueryConfigRequest {
            app_name: table.to_owned(),
            partition_indices: Vec::new(),
        };
        self.ask_until::<QueryConfig>(&request, deadline).await
    }

    /// Drops a table. It can be recalled for `reserve_s` seconds, or as long as the cluster keeps
    /// tables unless told otherwise.
    pub async fn drop_table(&self, name: &str, reserve_s: Option<i64>) -> Result<()> {
        let request = DropTableRequest {
            app_name: name.to_owned(),
            options: DropTableOptions {
                success_if_not_exist: false,
                reserve_seconds: reserve_s,
            },
        };
        self.ask::<DropTable>(&request).await.map(drop)
    }

    /// Brings a dropped table back, with another name unless `new_name` is empty.
    pub async fn recall_table(&self, number: i32, new_name: &str) -> Result<TableDescription> {
        let request = RecallTableRequest {
            app_id: number,
            new_app_name: new_name.to_owned(),
        };
        Ok(self.ask::<RecallTable>(&request).await?.info)
    }

    /// Gives a table another name.
    pub async fn rename_table(&self, old_name: &str, new_name: &str) -> Result<()> {
        let request = RenameTableRequest {
            old_app_name: old_name.to_owned(),
            new_app_name: new_name.to_owned(),
        };
        self.ask::<RenameTable>(&request).await.map(drop)
    }

    /// Tables with that status, all for `AS_INVALID`.
    pub async fn tables(&self, status: TableStatus) -> Result<Vec<TableDescription>> {
        let request = ListTablesRequest {
            status,
            ..ListTablesRequest::default()
        };
        Ok(self.ask::<ListTables>(&request).await?.infos)
    }

    /// Nodes with that status, all for `NS_INVALID`.
    pub async fn nodes(&self, status: NodeStatus) -> Result<Vec<NodeDescription>> {
        let request = ListNodesRequest { status };
        Ok(self.ask::<ListNodes>(&request).await?.infos)
    }

    /// What the cluster says of itself: names and values.
    pub async fn describe(&self) -> Result<Vec<(String, String)>> {
        let request = DescribeClusterRequest {};
        let answer = self.ask::<DescribeCluster>(&request).await?;
        Ok(answer.keys.into_iter().zip(answer.values).collect())
    }

    /// Sets settings of a table.
    pub async fn set_envs(&self, table: &str, envs: &BTreeMap<String, String>) -> Result<()> {
        let request = UpdateTableEnvRequest {
            app_name: table.to_owned(),
            op: EnvOperation::APP_ENV_OP_SET,
            keys: Some(envs.keys().cloned().collect()),
            values: Some(envs.values().cloned().collect()),
            clear_prefix: None,
        };
        self.ask::<UpdateTableEnv>(&request).await.map(drop)
    }

    /// Removes settings of a table.
    pub async fn remove_envs(&self, table: &str, keys: &[String]) -> Result<()> {
        let request = UpdateTableEnvRequest {
            app_name: table.to_owned(),
            op: EnvOperation::APP_ENV_OP_DEL,
            keys: Some(keys.to_vec()),
            ..UpdateTableEnvRequest::default()
        };
        self.ask::<UpdateTableEnv>(&request).await.map(drop)
    }

    /// Sets how much the meta server does by itself, or just asks with `FL_INVALID`. Returns the
    /// level before.
    pub async fn control_meta(&self, level: MetaLevel) -> Result<MetaLevel> {
        let request = ControlMetaRequest { level };
        Ok(self.ask::<ControlMeta>(&request).await?.old_level)
    }
}

fn is_in_the_making(name: &ErrorName) -> bool {
    use crate::error::ErrorCode;
    matches!(
        name.code(),
        ErrorCode::BusyCreating | ErrorCode::ObjectNotFound
    )
}
