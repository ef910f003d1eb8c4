package org.globalfs.protocol.config;

import org.globalfs.protocol.Dissemination;

/**
 * How the rings work that a process takes part in. Processes need not agree: a ring's coordinator
 * decides.
 *
 * @param regional how values spread in the ring of a region
 * @param global how they spread in the ring of all regions
 */
public record Rings(Dissemination regional, Dissemination global) {
    public static final Rings DEFAULTS = new Rings(Dissemination.STAR, Dissemination.STAR);

    static Rings read(Yaml yaml) throws ConfigException {
        Yaml rings = yaml.optionalMapping("rings").orElse(null);
        if (rings == null) {
            return DEFAULTS;
        }
        Rings read = DEFAULTS;
        Yaml dissemination = rings.optionalMapping("dissemination").orElse(null);
        if (dissemination != null) {
            read =
                    new Rings(
                            dissemination.choice(
                                    "regional", Dissemination.class, DEFAULTS.regional()),
                            dissemination.choice("global", Dissemination.class, DEFAULTS.global()));
            dissemination.finish();
        }
        rings.finish();
        return read;
    }

    public Dissemination dissemination(int ring) {
        return ring == Topology.GLOBAL ? global : regional;
    }
}
