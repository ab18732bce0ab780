import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.mirror.MirrorClient;
import org.apache.kafka.connect.mirror.RemoteClusterUtils;

/** What an application learns from Java's MirrorClient: MirrorClientCalls BOOTSTRAP SOURCE GROUP_PREFIX ALIAS... */
public class MirrorClientCalls {
    private static final Duration WITHIN = Duration.ofSeconds(60);

    public static void main(String[] args) throws Exception {
        Map<String, Object> cluster = Map.of("bootstrap.servers", args[0]);
        System.out.println("upstreamClusters: " + new TreeSet<>(RemoteClusterUtils.upstreamClusters(cluster)));
        System.out.println("heartbeatTopics: " + new TreeSet<>(RemoteClusterUtils.heartbeatTopics(cluster)));
        System.out.println("checkpointTopics: " + new TreeSet<>(RemoteClusterUtils.checkpointTopics(cluster)));
        for (int i = 3; i < args.length; i++) {
            System.out.println("replicationHops " + args[i] + ": " + RemoteClusterUtils.replicationHops(cluster, args[i]));
        }
        Pattern groups = Pattern.compile(Pattern.quote(args[2]) + ".*");
        Map<String, Map<TopicPartition, OffsetAndMetadata>> all =
                RemoteClusterUtils.translateOffsets(cluster, args[1], groups, WITHIN);
        for (String group : new TreeSet<>(all.keySet())) {
            print("translateOffsets all " + group, all.get(group));
            print("translateOffsets " + group, RemoteClusterUtils.translateOffsets(cluster, args[1], group, WITHIN));
            try (MirrorClient client = new MirrorClient(cluster)) {
                print("remoteConsumerOffsets " + group, client.remoteConsumerOffsets(group, args[1], WITHIN));
            }
        }
    }

    private static void print(String call, Map<TopicPartition, OffsetAndMetadata> offsets) {
        Map<String, String> told = new TreeMap<>();
        offsets.forEach((partition, found) -> told.put(partition.toString(), found.offset() + "/" + found.metadata()));
        System.out.println(call + ": " + told);
    }
}
