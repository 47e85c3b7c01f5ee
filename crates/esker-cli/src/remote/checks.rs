//! A value that is set if another one, or the same, passes a check.

use clap::{Args, ValueEnum};
use esker_rpc::client::ClientError;
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::message::data::{CasCheckType, CheckAndSetRequest};
use serde_json::json;

use crate::commands::write::parse_value;
use crate::fail::{Code, Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::json;
use crate::open;
use crate::remote::keys::{Key, Place, whole_seconds};
use crate::remote::refusal::write_failure;

/// What a value is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// There is none.
    NotExist,
    /// There is none, or it is empty.
    NotExistOrEmpty,
    /// There is one.
    Exist,
    /// There is one that is not empty.
    NotEmpty,
    /// It has the operand in it.
    MatchAnywhere,
    /// It begins with the operand.
    MatchPrefix,
    /// It ends with the operand.
    MatchPostfix,
    /// Its bytes stand before the operand's.
    BytesLess,
    /// They stand before it, or are the same.
    BytesLessOrEqual,
    /// They are the same.
    BytesEqual,
    /// They stand behind it, or are the same.
    BytesGreaterOrEqual,
    /// They stand behind it.
    BytesGreater,
    /// It is a number less than the operand.
    IntLess,
    /// It is a number, at most the operand.
    IntLessOrEqual,
    /// It is the operand's number.
    IntEqual,
    /// It is a number, at least the operand.
    IntGreaterOrEqual,
    /// It is a number greater than the operand.
    IntGreater,
}

impl Check {
    fn on_the_wire(self) -> CasCheckType {
        match self {
            Check::NotExist => CasCheckType::CT_VALUE_NOT_EXIST,
            Check::NotExistOrEmpty => CasCheckType::CT_VALUE_NOT_EXIST_OR_EMPTY,
            Check::Exist => CasCheckType::CT_VALUE_EXIST,
            Check::NotEmpty => CasCheckType::CT_VALUE_NOT_EMPTY,
            Check::MatchAnywhere => CasCheckType::CT_VALUE_MATCH_ANYWHERE,
            Check::MatchPrefix => CasCheckType::CT_VALUE_MATCH_PREFIX,
            Check::MatchPostfix => CasCheckType::CT_VALUE_MATCH_POSTFIX,
            Check::BytesLess => CasCheckType::CT_VALUE_BYTES_LESS,
            Check::BytesLessOrEqual => CasCheckType::CT_VALUE_BYTES_LESS_OR_EQUAL,
            Check::BytesEqual => CasCheckType::CT_VALUE_BYTES_EQUAL,
            Check::BytesGreaterOrEqual => CasCheckType::CT_VALUE_BYTES_GREATER_OR_EQUAL,
            Check::BytesGreater => CasCheckType::CT_VALUE_BYTES_GREATER,
            Check::IntLess => CasCheckType::CT_VALUE_INT_LESS,
            Check::IntLessOrEqual => CasCheckType::CT_VALUE_INT_LESS_OR_EQUAL,
            Check::IntEqual => CasCheckType::CT_VALUE_INT_EQUAL,
            Check::IntGreaterOrEqual => CasCheckType::CT_VALUE_INT_GREATER_OR_EQUAL,
            Check::IntGreater => CasCheckType::CT_VALUE_INT_GREATER,
        }
    }

    fn is_of_numbers(self) -> bool {
        matches!(
            self,
            Check::IntLess
                | Check::IntLessOrEqual
                | Check::IntEqual
                | Check::IntGreaterOrEqual
                | Check::IntGreater
        )
    }

    fn has_operand(self) -> bool {
        !matches!(
            self,
            Check::NotExist | Check::NotExistOrEmpty | Check::Exist | Check::NotEmpty
        )
    }
}

fn is_number(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes);
    text.is_ok_and(|text| text.parse::<i64>().is_ok())
}

/// Set a value if another one, or the same, passes a check
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv check-and-set --table temp lock:9 owner anna --if not-exist
  esker kv check-and-set --table temp lock:9 owner bela --if bytes-equal --operand anna
  esker kv check-and-set --table temp lock:9 note moved --check owner --if exist

Check and write are one step that nobody comes between. If the check does not pass nothing is set,
the value that was checked is told, and the exit code is 3.")]
pub struct CheckAndSet {
    /// The hash key
    hash: String,
    /// The sort key that is set
    sort: String,
    /// Its new value
    #[arg(allow_negative_numbers = true)]
    value: String,
    /// What is asked of the value before
    #[arg(long = "if", value_name = "CHECK", value_enum)]
    check: Check,
    /// What the value is compared with
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    operand: Option<String>,
    /// The sort key whose value is checked, if it is not the one that is set
    #[arg(long = "check", value_name = "SORT")]
    checked: Option<String>,
    /// Time after which the new value is as if deleted
    #[arg(long, value_name = "TIME", value_parser = whole_seconds)]
    ttl: Option<u32>,
}

impl CheckAndSet {
    fn operand(&self, shared: &GlobalFlags) -> Outcome<Vec<u8>> {
        match (&self.operand, self.check.has_operand()) {
            (Some(word), true) => {
                let operand = parse_value(shared, word)?;
                match self.check.is_of_numbers() && !is_number(&operand) {
                    false => Ok(operand),
                    true => Err(Failure::usage(
                        "this check compares numbers; --operand is a whole number of 64 bits",
                    )),
                }
            }
            (None, false) => Ok(Vec::new()),
            (None, true) => Err(Failure::usage(
                "this check compares with something; give it with --operand",
            )),
            (Some(_), false) => Err(Failure::usage(
                "this check compares with nothing; leave --operand out",
            )),
        }
    }
}

/// Checks and sets; exits with 3 where the check does not pass.
pub fn check_and_set(place: &Place<'_>, args: &CheckAndSet) -> Outcome {
    let shared = place.shared;
    let key = Key::parse(shared, &args.hash, &args.sort)?;
    let checked = match &args.checked {
        Some(word) => open::key(shared, word)?,
        None => key.sort.clone(),
    };
    let request = CheckAndSetRequest {
        hash_key: Blob::of(&key.hash),
        set_diff_sort_key: checked != key.sort,
        check_sort_key: Blob::from(checked),
        check_type: args.check.on_the_wire(),
        check_operand: Blob::from(args.operand(shared)?),
        set_sort_key: Blob::of(&key.sort),
        set_value: Blob::from(parse_value(shared, &args.value)?),
        set_expire_ts_seconds: place.table.now().after(args.ttl.unwrap_or(0)).to_bits(),
        return_check_value: true,
    };
    let call = place.table.check_and_set(&request);
    let done = match place.link.attempt(call) {
        Err(ClientError::Status(Status::INVALID_ARGUMENT)) if args.check.is_of_numbers() => {
            return Err(Failure::failed(
                "cannot check the key: its value is no number; nothing is set",
            ));
        }
        done => done.map_err(|error| write_failure("cannot check and set the key", &error))?,
    };
    let format = shared.value_format();
    if shared.json {
        let before = done
            .value
            .as_deref()
            .map(|value| json::spell(format, value));
        place.tell(
            &key,
            "check",
            json!({ "has_passed": done.has_passed, "value": before }),
        )?;
    }
    match (done.has_passed, shared.json) {
        (true, _) => Ok(()),
        (false, true) => Err(Failure::Silent(Code::NotFound)),
        (false, false) => {
            let before = done.value.as_deref().map_or_else(
                || "there is no value".to_owned(),
                |value| format!("the value is \"{}\"", format.show_field(value)),
            );
            Err(Failure::not_found(format!(
                "the check did not pass, nothing is set: {before}"
            )))
        }
    }
}
