//! Administration of nodes, and of where replicas are.

use crate::client::admin::Admin;
use crate::client::failure::Result;
use crate::codec::scalars::Gpid;
use crate::message::balance::{
    GetReplicaCountRequest, ProposalAction, ProposeBalancerRequest, SetReplicaCountRequest,
};
use crate::message::meta::{
    Balance, ChangeNode, GetReplicaCount, MoveReplica, ProposeBalancer, RecoverTable,
    SetMetaReplicas, SetReplicaCount, ShowNodes,
};
use crate::message::own::{
    BalanceRequest, BalanceResponse, ChangeNodeRequest, MoveReplicaRequest, NodeDeed, NodeFacts,
    PartitionFacts, RecoverTableRequest, SetMetaReplicasRequest, ShowNodesRequest,
    ShowNodesResponse,
};

impl Admin {
    /// How many replicas of a table there are to be.
    pub async fn replica_count(&self, table: &str) -> Result<i32> {
        let request = GetReplicaCountRequest {
            app_name: table.to_owned(),
        };
        Ok(self
            .ask::<GetReplicaCount>(&request)
            .await?
            .max_replica_count)
    }

    /// Says how many replicas of a table there are to be. Returns how many there were.
    pub async fn set_replica_count(&self, table: &str, count: i32) -> Result<i32> {
        let request = SetReplicaCountRequest {
            app_name: table.to_owned(),
            max_replica_count: count,
        };
        let answer = self.ask::<SetReplicaCount>(&request).await?;
        Ok(answer.old_max_replica_count)
    }

    /// Proposes to move a replica or a lead, as tools of Pegasus do.
    pub async fn propose(&self, partition: Gpid, actions: Vec<ProposalAction>) -> Result<()> {
        let request = ProposeBalancerRequest {
            gpid: partition,
            action_list: actions,
            force: None,
            balance_type: None,
        };
        self.ask::<ProposeBalancer>(&request).await.map(drop)
    }

    /// All nodes, and what counts on them. Pegasus does not have this call, nor those below.
    pub async fn node_facts(&self) -> Result<Vec<NodeFacts>> {
        Ok(self.show_nodes().await?.nodes)
    }

    /// As [`Admin::node_facts`], with what there is to say beside them.
    pub async fn show_nodes(&self) -> Result<ShowNodesResponse> {
        self.ask::<ShowNodes>(&ShowNodesRequest {}).await
    }

    /// Has a node emptied, not emptied, or let go of. Returns what is still to come, in words.
    pub async fn change_node(&self, node: i64, deed: NodeDeed) -> Result<String> {
        let request = ChangeNodeRequest { node, deed };
        Ok(self.ask::<ChangeNode>(&request).await?.hint_message)
    }

    /// Has a replica, or a lead, moved from one node to another.
    pub async fn move_replica(&self, request: &MoveReplicaRequest) -> Result<()> {
        self.ask::<MoveReplica>(request).await.map(drop)
    }

    /// The plan by which every node gets its share; it is carried out if that is asked for.
    pub async fn balance(&self, is_carried_out: bool) -> Result<BalanceResponse> {
        self.ask::<Balance>(&BalanceRequest { is_carried_out })
            .await
    }

    /// Says how many replicas the meta service is to have. Returns how many that was before.
    pub async fn set_meta_replicas(&self, count: i32) -> Result<i32> {
        let request = SetMetaReplicasRequest { count };
        Ok(self.ask::<SetMetaReplicas>(&request).await?.old_count)
    }

    /// The partitions of a table that nobody leads, and whether they could go on with what is left
    /// of them.
    pub async fn leaderless(&self, table: &str) -> Result<Vec<PartitionFacts>> {
        let request = RecoverTableRequest {
            app_name: table.to_owned(),
            partition_index: -1,
            accepts_loss: false,
        };
        Ok(self.ask::<RecoverTable>(&request).await?.partitions)
    }

    /// Has a partition that lost most of its replicas for ever go on with the one that is left and
    /// has most: what only the lost ones had is lost.
    pub async fn recover(&self, table: &str, partition: i32) -> Result<()> {
        let request = RecoverTableRequest {
            app_name: table.to_owned(),
            partition_index: partition,
            accepts_loss: true,
        };
        self.ask::<RecoverTable>(&request).await.map(drop)
    }
}
