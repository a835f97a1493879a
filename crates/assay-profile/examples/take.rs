use std::path::Path;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let bytes: u32 = args[3].parse().unwrap();
    let raw = Path::new(&args[5]);
    std::fs::create_dir_all(raw).unwrap();
    let wish = assay_profile::Wish {
        pids: vec![args[1].parse().unwrap()],
        frequency_hz: 499,
        stacks: match bytes {
            0 => Some(assay_profile::Stacks::FramePointers),
            1 => None,
            n => Some(assay_profile::Stacks::Copies(n)),
        },
        may_watch_all: args[4] == "all",
        kernel: true,
    };
    let p = assay_profile::Profiler::start(raw, &wish).unwrap();
    println!("{:?}", p.granted());
    std::thread::sleep(std::time::Duration::from_secs(args[2].parse().unwrap()));
    println!("{:?}", p.stop().unwrap());
}
